// The entry `callgate/worker`: what an engine, a channel or workers of one's own are made with. Names only.
export type { Budget, Engine, Image, Outcome, Realm, Start } from '../engine/engine.ts';
export { GUEST_BUNDLE as GUEST_RUNTIME } from '../engine/guest-bundle.ts';
export { type Answer, createAnswer } from '../engine/services.ts';
export { type Channel, linkedChannels } from '../isolation/channel.ts';
export { serveJail as serveWorker } from '../isolation/jail.ts';
export type { GuestMessage, HostEnvelope, Manifest, StartOptions, WorkerEnvelope } from '../protocol/messages.ts';
export type { WorkerSource } from '../session/engines.ts';
