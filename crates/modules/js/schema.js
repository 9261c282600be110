// Schema helpers modules describe their tools with: what they make is JSON schema.
//
// Stand-ins for as much of typebox and zod as tool descriptions use. A module that has one of
// them installed gets the installed one.
(() => {
  "use strict";
  const { offer, host } = globalThis.__ona;
  const hidden = (object, key, value) => Object.defineProperty(object, key, { value, configurable: true });

  // ---- typebox

  const schema = (type) => (options) => ({ type, ...options });
  const optional = Symbol.for("TypeBox.Optional");
  const pickKeys = (keys) => (Array.isArray(keys) ? keys.map(String) : keys?.enum ?? keys?.anyOf?.map((one) => one.const) ?? [keys?.const]);
  const reshaped = (one, keep, change = (value) => value) => Type.Object(
    Object.fromEntries(Object.entries(one.properties).filter(([key]) => keep(key)).map(([key, value]) => [key, change(value)])),
  );
  const required = (one) => { const { ...copy } = one; return copy; };
  const Type = {
    String: schema("string"), Number: schema("number"), Integer: schema("integer"), Boolean: schema("boolean"), Null: schema("null"),
    Any: (options) => ({ ...options }), Unknown: (options) => ({ ...options }),
    Never: (options) => ({ not: {}, ...options }),
    Undefined: (options) => ({ not: {}, ...options }),
    Literal: (value, options) => ({ const: value, type: typeof value, ...options }),
    Array: (items, options) => ({ type: "array", items, ...options }),
    Tuple: (items, options) => ({ type: "array", prefixItems: items, minItems: items.length, maxItems: items.length, ...options }),
    Object: (properties, options) => {
      const names = Object.keys(properties).filter((key) => !properties[key][optional]);
      return { type: "object", properties, ...(names.length ? { required: names } : {}), ...options };
    },
    Record: (key, value, options) => ({ type: "object", additionalProperties: value, ...options }),
    Union: (anyOf, options) => ({ anyOf, ...options }),
    Intersect: (allOf, options) => ({ allOf, ...options }),
    Composite: (all, options) => Type.Object(Object.assign({}, ...all.map((one) => one.properties)), options),
    Enum: (values, options) => ({ enum: Object.values(values), ...options }),
    Optional: (one) => hidden({ ...one }, optional, true),
    Readonly: (one) => one,
    ReadonlyOptional: (one) => Type.Optional(one),
    Unsafe: (options) => ({ ...options }),
    Partial: (one) => reshaped(one, () => true, (value) => Type.Optional(value)),
    Required: (one) => reshaped(one, () => true, required),
    Pick: (one, keys) => { const wanted = pickKeys(keys); return reshaped(one, (key) => wanted.includes(key)); },
    Omit: (one, keys) => { const dropped = pickKeys(keys); return reshaped(one, (key) => !dropped.includes(key)); },
    KeyOf: (one, options) => ({ enum: Object.keys(one.properties), ...options }),
    RegExp: (pattern, options) => ({ type: "string", pattern: pattern.source ?? String(pattern), ...options }),
    TemplateLiteral: (options) => ({ type: "string", ...options }),
    Date: (options) => ({ type: "string", format: "date-time", ...options }),
  };
  const StringEnum = (values, options) => ({ type: "string", enum: [...values], ...options });
  offer(["@sinclair/typebox", "typebox"], () => ({ Type, default: Type, ...Type }));

  // ---- zod

  class Schema {
    constructor(json, more = {}) { hidden(this, "json", json); hidden(this, "more", more); }
    with(json, more) { return new Schema({ ...this.json, ...json }, { ...this.more, ...more }); }
    toJSONSchema() { return JSON.parse(JSON.stringify(this.json, (_, value) => (value instanceof Schema ? value.json : value))); }
    toJSON() { return this.toJSONSchema(); }
    get description() { return this.json.description; }
    get shape() { return this.more.shape; }
    get options() { return this.json.enum; }
    describe(description) { return this.with({ description }); }
    meta(meta) { return this.with(meta); }
    optional() { return this.with({}, { optional: true }); }
    nullish() { return this.nullable().optional(); }
    nullable() { return new Schema({ anyOf: [this.json, { type: "null" }] }, this.more); }
    default(value) { return this.with({ default: value }, { optional: true }); }
    catch(value) { return this.default(value); }
    readonly() { return this; }
    brand() { return this; }
    // Rules that are code have no place in a schema; they hold when a value is parsed.
    refine(check, message) { return this.with({}, { checks: [...(this.more.checks ?? []), [check, message]] }); }
    superRefine() { return this; }
    transform(change) { return this.with({}, { change }); }
    array() { return z.array(this); }
    or(other) { return z.union([this, other]); }
    and(other) { return new Schema({ allOf: [this.json, other.json] }); }
    int() { return this.with({ type: "integer" }); }
    min(limit) { return this.with(this.json.type === "string" ? { minLength: limit } : this.json.type === "array" ? { minItems: limit } : { minimum: limit }); }
    max(limit) { return this.with(this.json.type === "string" ? { maxLength: limit } : this.json.type === "array" ? { maxItems: limit } : { maximum: limit }); }
    length(count) { return this.min(count).max(count); }
    nonempty() { return this.min(1); }
    gte(limit) { return this.with({ minimum: limit }); }
    lte(limit) { return this.with({ maximum: limit }); }
    gt(limit) { return this.with({ exclusiveMinimum: limit }); }
    lt(limit) { return this.with({ exclusiveMaximum: limit }); }
    positive() { return this.gt(0); }
    negative() { return this.lt(0); }
    nonnegative() { return this.gte(0); }
    finite() { return this; }
    multipleOf(step) { return this.with({ multipleOf: step }); }
    regex(pattern) { return this.with({ pattern: pattern.source }); }
    startsWith(text) { return this.with({ pattern: `^${escaped(text)}` }); }
    endsWith(text) { return this.with({ pattern: `${escaped(text)}$` }); }
    includes(text) { return this.with({ pattern: escaped(text) }); }
    trim() { return this; }
    email() { return this.with({ format: "email" }); }
    url() { return this.with({ format: "uri" }); }
    uuid() { return this.with({ format: "uuid" }); }
    datetime() { return this.with({ format: "date-time" }); }
    strict() { return this.with({ additionalProperties: false }); }
    passthrough() { return this.with({ additionalProperties: true }); }
    loose() { return this.passthrough(); }
    catchall(one) { return this.with({ additionalProperties: one.json }); }
    extend(shape) { return z.object({ ...this.more.shape, ...(shape.shape ?? shape) }); }
    merge(other) { return this.extend(other); }
    pick(keys) { return z.object(Object.fromEntries(Object.entries(this.more.shape).filter(([key]) => keys[key]))); }
    omit(keys) { return z.object(Object.fromEntries(Object.entries(this.more.shape).filter(([key]) => !keys[key]))); }
    partial() { return z.object(Object.fromEntries(Object.entries(this.more.shape).map(([key, one]) => [key, one.optional()]))); }
    parse(value) {
      host.ask("tools.check", [this.toJSONSchema(), value ?? null]);
      for (const [check, message] of this.more.checks ?? []) {
        if (!check(value)) throw new Error(typeof message === "string" ? message : message?.message ?? "Invalid input");
      }
      return this.more.change ? this.more.change(value) : value;
    }
    safeParse(value) {
      try { return { success: true, data: this.parse(value) }; } catch (error) { return { success: false, error }; }
    }
    async parseAsync(value) { return this.parse(value); }
  }
  const escaped = (text) => String(text).replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const made = (json) => () => new Schema(json);
  const z = {
    string: made({ type: "string" }), number: made({ type: "number" }), int: made({ type: "integer" }), boolean: made({ type: "boolean" }),
    null: made({ type: "null" }), any: made({}), unknown: made({}), never: made({ not: {} }), date: made({ type: "string", format: "date-time" }),
    email: made({ type: "string", format: "email" }), url: made({ type: "string", format: "uri" }), uuid: made({ type: "string", format: "uuid" }),
    literal: (value) => new Schema(Array.isArray(value) ? { enum: value } : { const: value }),
    enum: (values) => new Schema(Array.isArray(values) ? { type: "string", enum: [...values] } : { enum: Object.values(values) }),
    nativeEnum: (values) => new Schema({ enum: Object.values(values) }),
    array: (items) => new Schema({ type: "array", items: items?.json ?? {} }),
    tuple: (items) => new Schema({ type: "array", prefixItems: items.map((one) => one.json), minItems: items.length, maxItems: items.length }),
    union: (all) => new Schema({ anyOf: all.map((one) => one.json) }),
    discriminatedUnion: (_key, all) => new Schema({ anyOf: all.map((one) => one.json) }),
    intersection: (one, other) => one.and(other),
    record: (key, value) => new Schema({ type: "object", additionalProperties: (value ?? key).json }),
    optional: (one) => one.optional(),
    nullable: (one) => one.nullable(),
    lazy: (get) => new Schema({ ...get().json }),
    object(shape = {}) {
      const names = Object.keys(shape);
      const wanted = names.filter((name) => !shape[name].more.optional);
      const properties = Object.fromEntries(names.map((name) => [name, shape[name].json]));
      return new Schema({ type: "object", properties, ...(wanted.length ? { required: wanted } : {}) }, { shape });
    },
    strictObject: (shape) => z.object(shape).strict(),
    looseObject: (shape) => z.object(shape).loose(),
    toJSONSchema: (one) => one.toJSONSchema(),
    coerce: { string: made({}), number: made({}), boolean: made({}) },
  };
  offer(["zod", "zod/v3", "zod/v4", "zod/mini"], () => ({ ...z, z, default: z, ZodType: Schema }));

  globalThis.__ona.schemas = { Type, StringEnum };
})();
