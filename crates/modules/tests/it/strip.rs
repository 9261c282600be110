//! What TypeScript becomes, tried by running it.

use crate::world::World;
use ona_modules::{CallOutcome, embedded::QuickJs};
use serde_json::{Value, json};
use std::sync::Arc;

/// Runs a file whose last statement is `out(…)`, which is what this returns.
async fn value_of(name: &str, text: &str) -> Value {
    let world = World::new(Arc::new(QuickJs));
    world.file(
        "other.ts",
        "export const one: number = 1; export type T = string; export default class D<X> { v = 7 as number }",
    );
    world.file("data.json", r#"{"a": [1, 2]}"#);
    world.file("dir/index.ts", "export const inner = \"in\" as const;");
    world.file("plain.cjs", "const path = require('path'); module.exports = { join: path.join('a', 'b') };");
    let text = format!(
        "let $said: unknown; const out = (value: unknown) => {{ $said = value; }};\n{text}\nexport default (pi: any) => {{ pi.on(\"x\", () => $said); }};"
    );
    let text = if name.ends_with("js") { text.replace(": unknown", "").replace(": any", "") } else { text };
    let module = world.load(name, &text).await.unwrap_or_else(|why| panic!("{why}\n{text}"));
    match crate::world::fire(&module, "x", 0, &json!({}), None).await {
        CallOutcome::Returned(value) => value.unwrap_or(Value::Null),
        other => panic!("{other:?}\n{text}"),
    }
}

#[tokio::test]
async fn typescript_runs_as_the_same_program_without_types() {
    let cases = [
        ("enum E { A, B = 5, C, 'd-e' = 'x' } out([E.A, E.B, E.C, E[5], E['d-e']]);", json!([0, 5, 6, "B", "x"])),
        (
            "const enum F { Read = 1 << 0, Write = 1 << 1, Both = Read | Write } out([F.Both, F[2]]);",
            json!([3, "Write"]),
        ),
        ("enum G { A = 'a' as any, default = 'd' } out([G.A, G.default]);", json!(["a", "d"])),
        (
            "namespace N { export const a: number = 1; export function f(x: number): number { return x + a; } const hidden = 3; export namespace M { export let z = hidden; } } out([N.a, N.f(2), N.M.z]);",
            json!([1, 3, 3]),
        ),
        ("namespace A.B { export const c = 4; } out(A.B.c);", json!(4)),
        (
            "namespace OnlyTypes { export type T = string; } type U = OnlyTypes.T; out(typeof globalThis['OnlyTypes']);",
            json!("undefined"),
        ),
        (
            "class P { constructor(private readonly x: number, public y = 2, z?: string) { } sum() { return this.x + this.y; } } out(new P(1).sum());",
            json!(3),
        ),
        (
            "class Q { q = 1 } class R extends Q { constructor(public w: string) { super(); this.q++; } } const r = new R('w'); out([r.w, r.q]);",
            json!(["w", 2]),
        ),
        (
            "abstract class S { abstract a(): void; protected abstract b: number; declare c: string; static #n = 0; private static n?: number; readonly k!: number; [key: string]: any; public get g(): number { return 1 } override toString?(): string { return 's' } } class T2 extends S implements I, J { a() {} b = 1 } interface I {} interface J {} out([String(new T2()), new T2().g]);",
            json!(["s", 1]),
        ),
        (
            "function over(a: string): string; function over(a: number): number; function over(a: any) { return a; } out(over(3));",
            json!(3),
        ),
        (
            "function th(this: { v: number }, a: number) { return this.v + a; } out(th.call({ v: 1 }, 2)); function only(this: void) { return 1 } only();",
            json!(3),
        ),
        (
            "const f = <T,>(x: T): T => x; const g = async <T extends object>(x: T): Promise<T> => x; out(f(1)); g({});",
            json!(1),
        ),
        (
            "const h = (a: string): {\n  b: string;\n  c: number\n} => ({ b: a, c: 1 }); out(h('x'));",
            json!({"b": "x", "c": 1}),
        ),
        (
            "const o = { a: 1 } satisfies Record<string, number>; const p = (o as any).a!; const q = <number>p; out([p, q]);",
            json!([1, 1]),
        ),
        ("const u = () => <any>{ k: 1 }; out(u().k);", json!(1)),
        ("const v = 1 as any\n;[1, 2].forEach(() => {}); out(v);", json!(1)),
        ("let w = out as any\n(function () {})(); (w as any)(5);", json!(5)),
        (
            "let d!: number; d = 4; for (const [k, x] of Object.entries({ a: 1 } as Record<string, number>)) out([d, k, x]);",
            json!([4, "a", 1]),
        ),
        ("try { throw new Error('e') } catch (e: unknown) { out((e as Error).message); }", json!("e")),
        (
            "type Fn = (a: number) => void; interface Long<T> { a: T; b(): void }\ndeclare const gone: number; declare function alsoGone(): void; declare module 'x' { const y: 1 } declare global { interface Window {} } out(typeof gone);",
            json!("undefined"),
        ),
        (
            "import { one, type T } from './other'; import D from './other.js'; const t: T = 'x'; out([one, new D<string>().v, t]);",
            json!([1, 7, "x"]),
        ),
        (
            "import type { HookAPI } from '@oh-my-pi/pi-coding-agent/hooks'; import { HookContext } from 'no-such-package'; const k = (p: HookAPI, c: HookContext) => 1; out(k(null as any, null as any));",
            json!(1),
        ),
        (
            "import data from './data.json'; import { inner } from './dir'; import plain from './plain.cjs'; out([data.a[1], inner, plain.join]);",
            json!([2, "in", "a/b"]),
        ),
        (
            "import * as path from 'node:path'; import fs, { existsSync as there } from 'fs'; out([path.basename('/a/b.c', '.c'), typeof fs.readFileSync, there('/nowhere')]);",
            json!(["b", "function", false]),
        ),
        (
            "export { one as uno } from './other'; export * from './dir'; export type { T } from './other'; const m = await import('./other'); out(m.one);",
            json!(1),
        ),
        (
            "const label = (x?: string, ...rest: number[]) => x ?? rest.length; out([label(), label('a')]);",
            json!([0, "a"]),
        ),
        (
            "out([import.meta.filename.endsWith('main.ts'), import.meta.url.startsWith('file:///'), __dirname === import.meta.dirname]);",
            json!([true, true, true]),
        ),
        (
            "class Gen<T> { static make<U>(this: new () => Gen<U>): Gen<U> { return new this(); } m<V>(v: V): asserts v is NonNullable<V> {} } out(Gen.make<string>() instanceof Gen);",
            json!(true),
        ),
        (
            "let x1 = 1, y1 = 2; const z1 = x1 < y1 && y1 > x1; const s1 = `a${(x1 as number) + 1}`; out([z1, s1]);",
            json!([true, "a2"]),
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(value_of("main.ts", text).await, expected, "{text}");
    }
}

#[tokio::test]
async fn javascript_is_left_as_it_is() {
    let text = "import { sep } from 'path'; const { unused } = {}; out([sep, typeof require]);";
    assert_eq!(value_of("main.mjs", text).await, json!(["/", "undefined"]));
}

#[tokio::test]
async fn messages_name_the_line_of_the_source() {
    let world = World::new(Arc::new(QuickJs));
    let text = "import type { A } from 'x';\ninterface I {\n  a: string;\n}\nenum E {\n  A,\n  B,\n}\nexport default () => {\n  throw new Error(new Error('').stack as string);\n};";
    let why = world.load("lines.ts", text).await.err().unwrap();
    assert!(why.contains("lines.ts:10"), "{why}");
}

#[tokio::test]
async fn what_cannot_be_parsed_says_where() {
    let world = World::new(Arc::new(QuickJs));
    let why = world.load("broken.ts", "const a = 1;\nexport default function ( {").await.err().unwrap();
    assert!(why.starts_with("Failed to load hook: ") && why.contains("broken.ts") && why.contains("(2:"), "{why}");
    let why = world.load("decorated.ts", "@dec class A {}\nexport default () => {};").await.err().unwrap();
    assert!(why.contains("a decorator cannot be run here (1:1)"), "{why}");
}
