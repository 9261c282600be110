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

  export interface ToolCallEvent { type: "tool_call"; toolName: string; toolCallId: string; input: Record<string, any> }
  export interface ToolResultEvent {
    type: "tool_result"; toolName: string; toolCallId: string; input: Record<string, any>; content: Content[]; details: unknown; isError: boolean;
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
    before_agent_start: [{ type: "before_agent_start"; prompt: string; images?: ImageContent[] }, { message?: Omit<CustomMessage, "role" | "timestamp"> }];
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
    tool_call: [ToolCallEvent, { block?: boolean; reason?: string }];
    tool_result: [ToolResultEvent, { content?: Content[]; details?: unknown; isError?: boolean }];
  }

  export interface HookUIContext {
    select(title: string, options: string[]): Promise<string | undefined>;
    confirm(title: string, message: string): Promise<boolean>;
    input(title: string, placeholder?: string): Promise<string | undefined>;
    editor(title: string, prefill?: string, options?: { signal?: AbortSignal }): Promise<string | undefined>;
    notify(message: string, kind?: "info" | "warning" | "error"): void;
    setStatus(key: string, text: string | undefined): void;
    custom<T>(factory: (tui: any, theme: any, done: (value: T) => void) => unknown): Promise<T | undefined>;
    setEditorText(text: string): void;
    getEditorText(): string;
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
  }
  export interface WritableSessionManager extends ReadonlySessionManager {
    appendMessage(message: Message): void; appendCustomEntry(customType: string, data?: unknown): void;
    appendCustomMessageEntry(customType: string, content: string | Content[], display: boolean, details?: unknown): void;
  }
  export interface HookCommandContext extends HookContext {
    waitForIdle(): Promise<void>;
    newSession(options?: { parentSession?: string; setup?(manager: WritableSessionManager): Promise<void> | void }): Promise<{ cancelled: boolean }>;
    branch(entryId: string): Promise<{ cancelled: boolean }>;
    navigateTree(targetId: string, options?: { summarize?: boolean }): Promise<{ cancelled: boolean }>;
  }
  export interface ExecOptions { signal?: AbortSignal; timeout?: number; cwd?: string }
  export interface ExecResult { stdout: string; stderr: string; code: number; killed: boolean }
  export interface HookAPI {
    on<E extends keyof EventMap>(event: E, handler: (event: EventMap[E][0], ctx: HookContext) => EventMap[E][1] | void | Promise<EventMap[E][1] | void>): void;
    sendMessage(message: Omit<CustomMessage, "role" | "timestamp">, options?: boolean | { triggerTurn?: boolean; deliverAs?: "steer" | "followUp" }): void;
    appendEntry(customType: string, data?: unknown): void;
    registerCommand(name: string, command: { description?: string; handler(args: string, ctx: HookCommandContext): unknown }): void;
    registerMessageRenderer(customType: string, renderer: (message: CustomMessage, options: { expanded: boolean }, theme: HookUIContext["theme"]) => { render(width: number): string[] } | undefined): void;
    exec(command: string, args: string[], options?: ExecOptions): Promise<ExecResult>;
    logger: Record<"debug" | "info" | "warn" | "error", (...parts: unknown[]) => void>;
    typebox: { Type: any };
    pi: Record<string, unknown>;
  }
  export type HookFactory = (pi: HookAPI) => void | Promise<void>;
  export interface HookError { hookPath: string; event: string; error: string }
  export interface LoadHooksResult { hooks: unknown[]; errors: { path: string; error: string }[] }

  // Loading, running and wrapping are done by ona itself; these are here for modules that name them.
  export function discoverAndLoadHooks(configuredPaths: string[], cwd: string): Promise<LoadHooksResult>;
  export function loadHooks(paths: string[], cwd: string): Promise<LoadHooksResult>;
  export class HookRunner {}
  export class HookToolWrapper {}
  export function execCommand(command: string, args: string[], cwd: string, options?: ExecOptions): Promise<ExecResult>;
}
declare module "@oh-my-pi/pi-coding-agent" { export * from "@oh-my-pi/pi-coding-agent/hooks"; }
declare module "@mariozechner/pi-coding-agent" { export * from "@oh-my-pi/pi-coding-agent/hooks"; }
declare module "@mariozechner/pi-coding-agent/hooks" { export * from "@oh-my-pi/pi-coding-agent/hooks"; }
