//! Pictures a model will look at: those a provider would refuse are scaled down first
//! (DEC-032).
//!
//! What fits is passed on byte for byte and never decoded. What does not is decoded within
//! limits that are checked against the header before anything is allocated, because a
//! file of a few kilobytes may claim to be gigabytes of pixels. Decoding takes long and
//! belongs on a thread of its own; callers see to that.

mod decode;
mod header;
mod orientation;
mod scale;

use decode::Pixels;
use header::ImageFormat;
pub(crate) use header::ImageHeader;
use ona_api::Attachment;
use ona_api::digest::base64;

/// What providers accept of one picture: 5 MiB of base64.
const MAX_SENT: usize = 5 * 1024 * 1024 / 4 * 3;
/// Longer edges are refused once a request holds more than 20 pictures, which a long
/// session does.
const MAX_EDGE: u32 = 2_000;
/// What providers reduce pictures to before a model sees them.
const GOOD_EDGE: u32 = 1_568;
/// A file that is larger is not even read.
pub const MAX_BYTES: usize = 64 * 1024 * 1024;
/// 64 million pixels are 256 MiB while they are being scaled.
const MAX_PIXELS: u64 = 64_000_000;
/// A drawing that is larger than this is better off as a photograph.
const GOOD_PNG: usize = 1_536 * 1024;
const QUALITY: u8 = 88;

/// A picture a provider takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FittedImage {
    pub media_type: &'static str,
    pub bytes: Vec<u8>,
    /// Width and height, if they differ from the original's.
    pub scaled_to: Option<(u32, u32)>,
}

/// Why a picture cannot be shown to a model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImageError {
    #[error("it is not a PNG, JPEG, GIF or WebP picture")]
    Unknown,
    #[error("it is larger than {} MiB", MAX_BYTES / 1024 / 1024)]
    TooManyBytes,
    #[error("it has {width}x{height} pixels, more than can be scaled down")]
    TooManyPixels { width: u32, height: u32 },
    #[error("it is too large for a model and cannot be scaled down: {0}")]
    Unreadable(String),
}

impl From<FittedImage> for Attachment {
    fn from(fitted: FittedImage) -> Self {
        Attachment { kind: "image", media_type: fitted.media_type.into(), data: base64(&fitted.bytes) }
    }
}

/// Returns the picture as a provider takes it. Its kind is told from its bytes.
pub fn fit(bytes: Vec<u8>) -> Result<FittedImage, ImageError> {
    if bytes.len() > MAX_BYTES {
        return Err(ImageError::TooManyBytes);
    }
    let image = ImageHeader::from_head(&bytes).ok_or(ImageError::Unknown)?;
    let media_type = image.format.attached_as().ok_or(ImageError::Unknown)?;
    let small = image.size.is_none_or(|(width, height)| width.max(height) <= MAX_EDGE);
    if small && bytes.len() <= MAX_SENT {
        return Ok(FittedImage { media_type, bytes, scaled_to: None });
    }
    if let Some((width, height)) = image.size {
        bounded(width, height)?;
    }
    let (pixels, orientation) = decode::pixels(image.format, &bytes)?;
    drop(bytes);
    let (width, height) = scale::within(pixels.width, pixels.height, GOOD_EDGE);
    let scaled = orientation::oriented(scale::down(pixels, width, height), orientation);
    let (media_type, bytes) = encode(&scaled, image.format)?;
    Ok(FittedImage { media_type, bytes, scaled_to: Some((scaled.width, scaled.height)) })
}

/// Asked of what a decoder has read as well: two headers of one file may disagree.
fn bounded(width: u32, height: u32) -> Result<(), ImageError> {
    if width == 0 || height == 0 {
        return Err(ImageError::Unreadable("it has no pixels".into()));
    }
    if u64::from(width) * u64::from(height) > MAX_PIXELS {
        return Err(ImageError::TooManyPixels { width, height });
    }
    Ok(())
}

/// Drawings and what is transparent stay exact, as long as that is not too large.
fn encode(pixels: &Pixels, from: ImageFormat) -> Result<(&'static str, Vec<u8>), ImageError> {
    if matches!(from, ImageFormat::Png | ImageFormat::Gif) || pixels.is_transparent() {
        let bytes = decode::to_png(pixels)?;
        if bytes.len() <= GOOD_PNG {
            return Ok(("image/png", bytes));
        }
    }
    let bytes = decode::to_jpeg(pixels, QUALITY)?;
    match bytes.len() <= MAX_SENT {
        true => Ok(("image/jpeg", bytes)),
        false => Err(ImageError::Unreadable("it stays too large".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(width: u32, height: u32, alpha: u8) -> Pixels {
        let mut state = 1u32;
        let rgba = (0..width * height)
            .flat_map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let [a, b, c, _] = state.to_be_bytes();
                [a, b, c, alpha]
            })
            .collect();
        Pixels { width, height, rgba }
    }

    fn plain(width: u32, height: u32) -> Pixels {
        Pixels { width, height, rgba: [10, 200, 30, 255].repeat((width * height) as usize) }
    }

    #[test]
    fn what_fits_is_passed_on_as_it_is() {
        let png = decode::to_png(&plain(20, 10)).unwrap();
        assert_eq!(fit(png.clone()), Ok(FittedImage { media_type: "image/png", bytes: png, scaled_to: None }));
        // Nothing of it is decoded, so nothing can be wrong with the rest.
        assert!(fit(b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x02\x80\0\0\x01\xe0".to_vec()).is_ok());
    }

    #[test]
    fn a_long_edge_is_scaled_down_and_colours_stay() {
        let fitted = fit(decode::to_png(&plain(3_000, 30)).unwrap()).unwrap();
        assert_eq!((fitted.media_type, fitted.scaled_to), ("image/png", Some((1_568, 16))));
        let (pixels, _) = decode::pixels(ImageFormat::Png, &fitted.bytes).unwrap();
        assert!(pixels.rgba.chunks(4).all(|pixel| pixel == [10, 200, 30, 255]));
    }

    #[test]
    fn a_photograph_becomes_a_photograph() {
        let jpeg = decode::to_jpeg(&noise(2_400, 60, 255), 95).unwrap();
        let fitted = fit(jpeg).unwrap();
        assert_eq!((fitted.media_type, fitted.scaled_to), ("image/jpeg", Some((1_568, 39))));
        assert!(fitted.bytes.len() <= MAX_SENT);
    }

    #[test]
    fn many_bytes_alone_are_enough_to_be_scaled() {
        let mut png = decode::to_png(&plain(20, 10)).unwrap();
        png.resize(MAX_SENT + 1, 0);
        let fitted = fit(png).unwrap();
        assert_eq!((fitted.media_type, fitted.scaled_to), ("image/png", Some((20, 10))));
        assert!(fitted.bytes.len() < 1_000);
    }

    #[test]
    fn a_bomb_is_refused_by_its_header() {
        let mut png = decode::to_png(&plain(1, 1)).unwrap();
        png[16..24].copy_from_slice(&[0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff]);
        assert_eq!(fit(png), Err(ImageError::TooManyPixels { width: 65_535, height: 65_535 }));
        let gif = [b"GIF89a\xff\xff\xff\xff\0\0\0".as_slice(), &[0; 40]].concat();
        assert_eq!(fit(gif), Err(ImageError::TooManyPixels { width: 65_535, height: 65_535 }));
        assert_eq!(fit(b"plain text".to_vec()), Err(ImageError::Unknown));
        assert_eq!(fit(vec![0; MAX_BYTES + 1]), Err(ImageError::TooManyBytes));
    }

    #[test]
    fn a_picture_cut_short_is_refused_in_words() {
        let mut png = decode::to_png(&noise(2_100, 50, 255)).unwrap();
        png.truncate(png.len() / 2);
        assert!(matches!(fit(png), Err(ImageError::Unreadable(_))));
        let header = b"RIFF\xff\xff\0\0WEBPVP8X\x0a\0\0\0\x10\0\0\0\xff\x0f\0\xff\x0f\0";
        assert!(matches!(fit(header.to_vec()), Err(ImageError::Unreadable(_))));
    }
}
