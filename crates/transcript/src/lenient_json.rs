//! Reads JSON values of unknown shape in one pass.
//!
//! A field of type `LenientValue<T>` takes any JSON value: what `T` understands becomes a
//! `T`, everything else is passed over and becomes its default. So one wrong field
//! spoils no row, and the rows the runtime wrote, which are nearly all, are read
//! without a tree of values in between.

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::fmt;
use std::marker::PhantomData;

/// A type that any JSON value can be read as. Each method handles one kind of JSON.
pub(crate) trait FromAnyJson: Default {
    fn text(_text: &str) -> Self {
        Self::default()
    }

    fn truth(_truth: bool) -> Self {
        Self::default()
    }

    fn number(_number: i64) -> Self {
        Self::default()
    }

    fn array<'de, A: SeqAccess<'de>>(mut array: A) -> Result<Self, A::Error> {
        while array.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }

    fn object<'de, A: MapAccess<'de>>(mut object: A) -> Result<Self, A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }
}

#[derive(Debug, Default)]
pub(crate) struct LenientValue<T>(pub(crate) T);

impl<'de, T: FromAnyJson> Deserialize<'de> for LenientValue<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue(PhantomData))
    }
}

struct AnyValue<T>(PhantomData<T>);

impl<'de, T: FromAnyJson> Visitor<'de> for AnyValue<T> {
    type Value = LenientValue<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(LenientValue(T::text(text)))
    }

    fn visit_bool<E: Error>(self, truth: bool) -> Result<Self::Value, E> {
        Ok(LenientValue(T::truth(truth)))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        Ok(LenientValue(T::number(number)))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        Ok(LenientValue(i64::try_from(number).map_or_else(|_| T::default(), T::number)))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
        Ok(LenientValue(T::default()))
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(LenientValue(T::default()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, array: A) -> Result<Self::Value, A::Error> {
        T::array(array).map(LenientValue)
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Self::Value, A::Error> {
        T::object(object).map(LenientValue)
    }
}

/// A string.
impl FromAnyJson for Option<String> {
    fn text(text: &str) -> Self {
        Some(text.to_owned())
    }
}

/// A whole number.
impl FromAnyJson for Option<i64> {
    fn number(number: i64) -> Self {
        Some(number)
    }
}

/// True, or what SQLite's JSON functions write for it: a number other than 0.
impl FromAnyJson for bool {
    fn truth(truth: bool) -> Self {
        truth
    }

    fn number(number: i64) -> Self {
        number != 0
    }
}

/// An object with these fields.
#[derive(Debug)]
pub(crate) struct LenientObject<T>(pub(crate) Option<T>);

impl<T> Default for LenientObject<T> {
    fn default() -> Self {
        LenientObject(None)
    }
}

impl<T: DeserializeOwned> FromAnyJson for LenientObject<T> {
    fn object<'de, A: MapAccess<'de>>(object: A) -> Result<Self, A::Error> {
        T::deserialize(MapAccessDeserializer::new(object)).map(|fields| LenientObject(Some(fields)))
    }
}

/// The content of a result as one text: a string, the texts of blocks, or else
/// the JSON itself.
#[derive(Debug, Default)]
pub(crate) struct PlainText(pub(crate) String);

impl FromAnyJson for PlainText {
    fn text(text: &str) -> Self {
        PlainText(text.to_owned())
    }

    fn truth(truth: bool) -> Self {
        PlainText(truth.to_string())
    }

    fn number(number: i64) -> Self {
        PlainText(number.to_string())
    }

    fn array<'de, A: SeqAccess<'de>>(array: A) -> Result<Self, A::Error> {
        let blocks = Value::deserialize(SeqAccessDeserializer::new(array))?;
        let texts: Option<Vec<&str>> =
            blocks.as_array().and_then(|blocks| blocks.iter().map(|block| block["text"].as_str()).collect());
        Ok(PlainText(texts.map_or_else(|| blocks.to_string(), |texts| texts.join("\n"))))
    }

    fn object<'de, A: MapAccess<'de>>(object: A) -> Result<Self, A::Error> {
        let value = Value::deserialize(MapAccessDeserializer::new(object))?;
        Ok(PlainText(value.to_string()))
    }
}
