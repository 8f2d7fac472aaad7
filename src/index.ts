// The public names, in one list. What is not here is not public.
// The reference brings `Symbol.asyncDispose`, so that the types stand in compilations whose `lib` is older too.
/// <reference lib="esnext.disposable" preserve="true" />
export {
  type Artifact,
  type ArtifactData,
  type ArtifactOptions,
  artifact,
  type DeferredArtifact,
  type DeferredArtifactOptions,
  deferredArtifact,
  type InlineArtifact,
  type ToolResult,
  type ToolResultOptions,
  toolResult,
} from './artifacts/artifact.ts';
export { type DirectoryStoreOptions, directoryStore } from './artifacts/directory.ts';
export type { ArtifactOrigin, ByteRange, KeptArtifact, KeptFile, KeptReference } from './artifacts/kept.ts';
export { type MemoryStoreOptions, memoryStore } from './artifacts/memory.ts';
export type { ResolveArtifact, ResolvedArtifact } from './artifacts/run-shelf.ts';
export type { ArtifactStore, StoredArtifact, StoreInput } from './artifacts/store.ts';
export type { Policy, PolicyCall, PolicyDecision } from './broker/authorize.ts';
export type { CallRecord } from './broker/broker.ts';
export type { ShowError } from './broker/deliver.ts';
export type { AfterCallAnswer, BeforeCallAnswer, HookCall, HookOutcome, Hooks } from './broker/hooks.ts';
export { type V8Engine, type V8Options, v8 } from './engine/v8-install.ts';
export type {
  Caller,
  CallStatus,
  Capture,
  Captured,
  CodeModeEvent,
  HookDeed,
  Observer,
  PayloadKind,
  Place,
  Redact,
  Span,
  WatchedArtifact,
} from './observe.ts';
export { CodeModeError, type ErrorCode, type ErrorKind } from './protocol/errors.ts';
export { LIMITS, type LimitName, type LimitOverrides, type LimitRow, type Limits } from './protocol/limits.ts';
export type { Warning } from './protocol/messages.ts';
export { toJson } from './protocol/values.ts';
export type { ArtifactsOptions } from './session/artifacts.ts';
export { type CodeMode, createCodeMode } from './session/code-mode.ts';
export type { ControlSchema, ControlTool } from './session/control-tools.ts';
export type { Description, EngineDescription, Missing } from './session/describe.ts';
export type { EngineOption, Isolation, IsolationOption, SandboxOption, WorkerSource } from './session/engines.ts';
export type { ListedTool, ModelCatalog } from './session/model-catalog.ts';
export type { Observation, ObserveOptions } from './session/observation.ts';
export type { CatalogOptions, CodeModeOptions, DiscoveryPlace, RunOptions, SessionOptions, TypeCheckMode } from './session/options.ts';
export { type RenderedBlock, type Rendering, renderResult } from './session/render.ts';
export type { ProgramError, RunResult, Usage } from './session/result.ts';
export type { CallOptions, ExecOptions, Session } from './session/session.ts';
export type { SessionTool } from './session/session-tools.ts';
export type { Binding, Invocation, Run } from './tools/binding.ts';
export type { DeclarationsOptions } from './tools/declarations.ts';
export type { FoundTool, SearchDetail, SearchOptions } from './tools/discovery.ts';
export type { ToolProvider, ToolSource } from './tools/provider.ts';
export type { JsonSchema } from './tools/schema.ts';
export { defineTool, type RunArtifacts, type Tool, type ToolAnnotations, type ToolContext, ToolError } from './tools/tool.ts';
export { type WorkspaceToolsOptions, workspaceTools } from './workspace/tools.ts';
export type { Workspace, WorkspaceOptions, WorkspacePath } from './workspace/workspace.ts';
