// The entry `callgate/testing`: what shows that an engine, a channel or workers of one's own keep their contracts, and what stands in for them
// in tests of a host. Names only.
export { linkedChannels } from '../isolation/channel.ts';
export { type ConformanceCase, registerCases, type Skips, type TestFramework } from './conformance/case.ts';
export { type ChannelSubject, type ChannelToEcho, channelCases } from './conformance/channel.ts';
export { type EngineSubject, engineCases } from './conformance/engine.ts';
export { type WorkerSubject, workerCases } from './conformance/worker.ts';
export { type ScriptedEngine, type ScriptedTurn, scriptedEngine, scriptedWorkers } from './scripted.ts';
