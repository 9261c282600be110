// Types of hook modules as ona runs them. Written by `ona hooks types`.
//
// Name it in a tsconfig's "paths" for "@oh-my-pi/pi-coding-agent/hooks", or let an editor find it
// beside a module. ona itself never checks types.

declare module "@oh-my-pi/pi-coding-agent/hooks" {
  export interface TextContent { type: "text"; text: string }
  export interface ImageContent { type: "image"; data: string; mimeType: string }
  export type Content = TextContent | ImageContent;

  export interface UserMessage { role: "user"; content: string | Content[]; timestamp: number }
  export interface ToolCall { type: "toolCall"; id: string; name: string; arguments: Record<string, unknown> }
  export interface AssistantMessage {
    role: "assistant"; content: (TextContent | ToolCall | { type: "thinking"; thinking: string })[]; model?: string;
    usage: { input: number; output: number; cacheRead: number; cacheWrite: number; totalTokens: number; cost: { total: number } };
    stopReason: "stop" | "length" | "toolUse" | "error" | "aborted"; timestamp: number;
  }
  export interface ToolResultMessage {
    role: "toolResult"; toolCallId: string; toolName: string; content: Content[]; details?: unknown; isError: boolean; timestamp: number;
  }
  export interface CustomMessage {
    role: "custom"; customType: string; content: string | Content[]; display: boolean; details?: unknown; timestamp: number;
  }
  export interface CompactionSummaryMessage { role: "compactionSummary"; summary: string; tokensBefore: number; timestamp: number }
  export type Message = UserMessage | AssistantMessage | ToolResultMessage | CustomMessage | CompactionSummaryMessage;

  interface EntryBase { id: string; parentId: string | null; timestamp: string }
  export type SessionEntry = EntryBase & (
    | { type: "message"; message: Message }
    | { type: "custom"; customType: string; data?: unknown }
    | { type: "custom_message"; customType: string; content: string | Content[]; display: boolean; details?: unknown }
    | { type: "compaction"; summary: string; firstKeptEntryId: string; tokensBefore: number }
  );

  /** `input` is what the model wrote, or what the hook before left; `resolvedPath` the absolute path of the file or folder it is about. */
  export interface ToolCallEvent { type: "tool_call"; toolName: string; toolCallId: string; input: Record<string, any>; resolvedPath?: string }
  export interface ToolResultEvent {
    type: "tool_result"; toolName: string; toolCallId: string; input: Record<string, any>; resolvedPath?: string; content: Content[]; details: unknown; isError: boolean;
  }
  export interface CompactionResult { summary: string; shortSummary?: string; firstKeptEntryId: string; tokensBefore: number; details?: unknown; preserveData?: Record<string, unknown> }
  export interface CompactionPreparation {
    firstKeptEntryId: string; messagesToSummarize: Message[]; turnPrefixMessages: Message[]; recentMessages: Message[]; isSplitTurn: boolean;
    tokensBefore: number; previousSummary?: string; fileOps: { read: Set<string>; written: Set<string>; edited: Set<string> }; settings: unknown;
  }
  type Reason = "new" | "resume" | "fork";
  export interface EventMap {
    session_start: [{ type: "session_start" }, void];
    session_before_switch: [{ type: "session_before_switch"; reason: Reason; targetSessionFile?: string }, { cancel?: boolean }];
    session_switch: [{ type: "session_switch"; reason: Reason; previousSessionFile?: string }, void];
    session_before_branch: [{ type: "session_before_branch"; entryId: string }, { cancel?: boolean; skipConversationRestore?: boolean }];
    session_branch: [{ type: "session_branch"; previousSessionFile?: string }, void];
    session_before_compact: [
      { type: "session_before_compact"; preparation: CompactionPreparation; branchEntries: SessionEntry[]; customInstructions?: string; signal: AbortSignal },
      { cancel?: boolean; compaction?: CompactionResult },
    ];
    "session.compacting": [{ type: "session.compacting"; sessionId: string; messages: Message[] }, { context?: string[]; prompt?: string; preserveData?: Record<string, unknown> }];
    session_compact: [{ type: "session_compact"; compactionEntry: SessionEntry; fromExtension: boolean }, void];
    session_before_tree: [{ type: "session_before_tree"; preparation: unknown; signal: AbortSignal }, { cancel?: boolean; summary?: { summary: string; details?: unknown } }];
    session_tree: [{ type: "session_tree"; newLeafId?: string; oldLeafId?: string; summaryEntry?: SessionEntry; fromExtension?: boolean }, void];
    session_shutdown: [{ type: "session_shutdown" }, void];
    context: [{ type: "context"; messages: Message[] }, { messages?: Message[] }];
    before_agent_start: [
      { type: "before_agent_start"; prompt: string; images?: ImageContent[]; readonly systemPrompt: string },
      { message?: Omit<CustomMessage, "role" | "timestamp">; systemPrompt?: string | string[]; systemPromptAppend?: string },
    ];
    agent_start: [{ type: "agent_start" }, void];
    agent_end: [{ type: "agent_end"; messages: Message[] }, void];
    turn_start: [{ type: "turn_start"; turnIndex: number; timestamp: number }, void];
    turn_end: [{ type: "turn_end"; turnIndex: number; message: AssistantMessage; toolResults: ToolResultMessage[] }, void];
    auto_compaction_start: [{ type: "auto_compaction_start"; reason: string; action: string }, void];
    auto_compaction_end: [{ type: "auto_compaction_end"; action: string; result?: unknown; aborted: boolean; willRetry: boolean; errorMessage?: string }, void];
    auto_retry_start: [{ type: "auto_retry_start"; attempt: number; maxAttempts: number; delayMs: number; errorMessage: string }, void];
    auto_retry_end: [{ type: "auto_retry_end"; success: boolean; attempt: number; finalError?: string }, void];
    ttsr_triggered: [{ type: "ttsr_triggered"; rules: unknown[] }, void];
    todo_reminder: [{ type: "todo_reminder"; todos: { id: string; content: string; status: string }[]; attempt: number; maxAttempts: number }, void];
    input: [{ type: "input"; text: string; source: string }, { action?: "continue" | "transform" | "handled"; text?: string; handled?: boolean }];
    tool_execution_start: [{ type: "tool_execution_start"; toolCallId: string; toolName: string; args: Record<string, any> }, void];
    tool_execution_end: [{ type: "tool_execution_end"; toolCallId: string; toolName: string; result: ToolResult; isError: boolean }, void];
    tool_call: [ToolCallEvent, { block?: boolean; reason?: string }];
    tool_result: [ToolResultEvent, { content?: Content[]; details?: unknown; isError?: boolean }];
  }

  export interface DialogOptions { signal?: AbortSignal; timeout?: number }
  export interface HookUIContext {
    select(title: string, options: string[], more?: DialogOptions): Promise<string | undefined>;
    confirm(title: string, message: string, more?: DialogOptions): Promise<boolean>;
    input(title: string, placeholder?: string, more?: DialogOptions): Promise<string | undefined>;
    editor(title: string, prefill?: string, options?: { signal?: AbortSignal }): Promise<string | undefined>;
    notify(message: string, kind?: "info" | "warning" | "error"): void;
    setStatus(key: string, text: string | undefined): void;
    custom<T>(factory: (tui: any, theme: any, done: (value: T) => void) => unknown): Promise<T | undefined>;
    setEditorText(text: string): void;
    getEditorText(): string;
    setWidget(key: string, content: string[] | undefined): void;
    setTitle(title: string): void;
    setWorkingMessage(message?: string): void;
    pasteToEditor(text: string): void;
    readonly theme: { fg(colour: string, text: string): string; bg(colour: string, text: string): string; bold(text: string): string; italic(text: string): string; underline(text: string): string; inverse(text: string): string; strikethrough(text: string): string };
  }
  export interface ReadonlySessionManager {
    getCwd(): string; getSessionId(): string; getSessionFile(): string | undefined; getSessionDir(): string | undefined; getLeafId(): string | null;
    getLeafEntry(): SessionEntry | undefined; getEntry(id: string): SessionEntry | undefined; getLabel(id: string): string | undefined;
    getBranch(fromId?: string): SessionEntry[]; getEntries(): SessionEntry[]; getTree(): unknown[]; getHeader(): Record<string, unknown> | null;
    getUsageStatistics(): { input: number; output: number; cacheRead: number; cacheWrite: number; premiumRequests: number; cost: number };
  }
  export interface HookContext {
    ui: HookUIContext; hasUI: boolean; cwd: string; sessionManager: ReadonlySessionManager;
    modelRegistry: { getApiKey(model: unknown): Promise<undefined>; find(provider: string, id: string): unknown; getAvailable(): unknown[]; getAll(): unknown[] };
    model: { id: string; provider: string; name?: string } | undefined;
    isIdle(): boolean; abort(): void; hasQueuedMessages(): boolean;
    // The extension API's.
    hasPendingMessages(): boolean;
    getSystemPrompt(): string;
    getContextUsage(): { tokens: number | null; contextWindow: number; percent: number | null } | undefined;
    /** Done when the agent is idle. */
    compact(options?: string | { customInstructions?: string; onComplete?(result: { summary: string }): void; onError?(error: Error): void }): Promise<void>;
    /** A run without a person ends by itself. */
    shutdown(): void;
    /** Of the tool that runs. */
    signal?: AbortSignal;
    setTimeout(callback: () => void, ms?: number): unknown;
    setInterval(callback: () => void, ms?: number): unknown;
    clearTimer(timer: unknown): void;
  }
  export interface WritableSessionManager extends ReadonlySessionManager {
    appendMessage(message: Message): void; appendCustomEntry(customType: string, data?: unknown): void;
    appendCustomMessageEntry(customType: string, content: string | Content[], display: boolean, details?: unknown): void;
  }
  export interface HookCommandContext extends HookContext {
    waitForIdle(): Promise<void>;
    newSession(options?: { parentSession?: string; setup?(manager: WritableSessionManager): Promise<void> | void; withSession?(ctx: ReplacedSessionContext): unknown }): Promise<{ cancelled: boolean }>;
    branch(entryId: string): Promise<{ cancelled: boolean }>;
    fork(entryId: string, options?: { withSession?(ctx: ReplacedSessionContext): unknown }): Promise<{ cancelled: boolean }>;
    switchSession(session: string, options?: { withSession?(ctx: ReplacedSessionContext): unknown }): Promise<{ cancelled: boolean }>;
    navigateTree(targetId: string, options?: { summarize?: boolean }): Promise<{ cancelled: boolean }>;
    /** Reads all modules again. */
    reload(): Promise<void>;
  }
  export interface ReplacedSessionContext extends HookCommandContext {
    sendMessage(message: Omit<CustomMessage, "role" | "timestamp">, options?: SendOptions): Promise<void>;
    sendUserMessage(content: string | Content[], options?: { deliverAs?: "steer" | "followUp" }): Promise<void>;
  }

  /** A JSON schema of an object: made by `Type` or `z`, or written down. */
  export type ToolParameters = object;
  export interface ToolResult { content: string | Content[]; details?: unknown; isError?: boolean }
  export interface ToolDefinition<P = any> {
    /** Letters, digits, `_` and `-`; not the name of a built-in tool. */
    name: string;
    label?: string;
    description: string;
    parameters?: ToolParameters;
    promptGuidelines?: string[];
    prepareArguments?(args: any): P;
    execute(toolCallId: string, params: P, signal: AbortSignal, onUpdate: (partial: ToolResult) => void, ctx: HookContext): Promise<ToolResult> | ToolResult;
  }
  export interface ToolInfo { name: string; description: string; parameters: object; sourceInfo: { path: string; source: string; scope: string; origin: string } }
  export interface CommandInfo { name: string; description?: string; source: "extension"; sourceInfo: ToolInfo["sourceInfo"] }
  export interface SendOptions { triggerTurn?: boolean; deliverAs?: "steer" | "followUp" | "nextTurn" }
  export interface ExecOptions { signal?: AbortSignal; timeout?: number; cwd?: string }
  export interface ExecResult { stdout: string; stderr: string; code: number; killed: boolean }
  export interface HookAPI {
    on<E extends keyof EventMap>(event: E, handler: (event: EventMap[E][0], ctx: HookContext) => EventMap[E][1] | void | Promise<EventMap[E][1] | void>): void;
    sendMessage(message: Omit<CustomMessage, "role" | "timestamp">, options?: boolean | SendOptions): void;
    appendEntry(customType: string, data?: unknown): void;
    registerCommand(name: string, command: { description?: string; handler(args: string, ctx: HookCommandContext): unknown }): void;
    registerMessageRenderer(customType: string, renderer: (message: CustomMessage, options: { expanded: boolean }, theme: HookUIContext["theme"]) => { render(width: number): string[] } | undefined): void;
    exec(command: string, args: string[], options?: ExecOptions): Promise<ExecResult>;
    logger: Record<"debug" | "info" | "warn" | "error", (...parts: unknown[]) => void>;
    typebox: { Type: any };
    zod: any;
    pi: Record<string, any>;
    // What follows is the extension API; hooks have it too.
    registerTool(tool: ToolDefinition): void;
    /** Given as `--extension-flag NAME` or `--extension-flag NAME=VALUE`. */
    registerFlag(name: string, options: { description?: string; type: "boolean" | "string"; default?: boolean | string }): void;
    getFlag(name: string): boolean | string | undefined;
    registerShortcut(key: string, options: { description?: string; handler(ctx: HookContext): unknown }): void;
    sendUserMessage(content: string | Content[], options?: { deliverAs?: "steer" | "followUp" }): void;
    getActiveTools(): string[];
    getAllTools(): ToolInfo[];
    setActiveTools(names: string[]): Promise<void>;
    getCommands(): CommandInfo[];
    setLabel(entryId: string, label?: string): void;
    setSessionName(name: string): void;
    getSessionName(): string | undefined;
    /** One bus for all modules. */
    events: { on(name: string, handler: (data: any) => unknown): () => void; emit(name: string, data?: unknown): void };
    // These are there to be called and have no effect in ona; the log says so.
    setModel(model: unknown): Promise<boolean>;
    getThinkingLevel(): string;
    setThinkingLevel(level: string): void;
    getServiceTiers(): object;
    setServiceTier(family: string, tier?: string): void;
    registerProvider(name: string, config: object): void;
    unregisterProvider(name: string): void;
    registerAssistantThinkingRenderer(renderer: (...args: any[]) => unknown): void;
    registerComposerShape(definition: object): void;
    registerFileWriteFallback(handler: (...args: any[]) => unknown): void;
    registerFileDeleteFallback(handler: (...args: any[]) => unknown): void;
  }
  export type ExtensionAPI = HookAPI;
  export type ExtensionContext = HookContext;
  export type ExtensionCommandContext = HookCommandContext;
  export type HookFactory = (pi: HookAPI) => void | Promise<void>;
  export type ExtensionFactory = HookFactory;
  export interface HookError { hookPath: string; event: string; error: string }
  export interface LoadHooksResult { hooks: unknown[]; errors: { path: string; error: string }[] }

  // Loading, running and wrapping are done by ona itself; these are here for modules that name them.
  export function discoverAndLoadHooks(configuredPaths: string[], cwd: string): Promise<LoadHooksResult>;
  export function loadHooks(paths: string[], cwd: string): Promise<LoadHooksResult>;
  export class HookRunner {}
  export class HookToolWrapper {}
  // Tools a module may wrap and register under a name of its own.
  type ToolMaker = (cwd: string, options?: any) => ToolDefinition;
  export const createBashTool: ToolMaker, createReadTool: ToolMaker, createWriteTool: ToolMaker, createEditTool: ToolMaker;
  export const createGrepTool: ToolMaker, createFindTool: ToolMaker, createLsTool: ToolMaker;
  export function defineTool<P>(tool: ToolDefinition<P>): ToolDefinition<P>;
  export const DEFAULT_MAX_BYTES: number, DEFAULT_MAX_LINES: number;
  export interface Truncation { content: string; truncated: boolean; truncatedBy: "lines" | "bytes" | null; totalLines: number; totalBytes: number; outputLines: number; outputBytes: number }
  export function truncateHead(text: string, options?: { maxLines?: number; maxBytes?: number }): Truncation;
  export function truncateTail(text: string, options?: { maxLines?: number; maxBytes?: number }): Truncation;
  export function truncateLine(line: string, most?: number): { text: string; wasTruncated: boolean };
  export function formatSize(bytes: number): string;
  export function StringEnum(values: readonly string[], options?: object): ToolParameters;
  export function isToolCallEventType(name: string, event: ToolCallEvent): boolean;
  export function withFileMutationQueue<T>(path: string, work: () => Promise<T>): Promise<T>;
  export function execCommand(command: string, args: string[], cwd: string, options?: ExecOptions): Promise<ExecResult>;
}
declare module "@oh-my-pi/pi-coding-agent" { export * from "@oh-my-pi/pi-coding-agent/hooks"; }
declare module "@mariozechner/pi-coding-agent" { export * from "@oh-my-pi/pi-coding-agent/hooks"; }
declare module "@mariozechner/pi-coding-agent/hooks" { export * from "@oh-my-pi/pi-coding-agent/hooks"; }
declare module "@earendil-works/pi-coding-agent" { export * from "@oh-my-pi/pi-coding-agent/hooks"; }
