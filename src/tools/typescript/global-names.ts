// Names of one or two words that types have already, in the language or in the libraries of a browser: whoever reads declarations beside those
// libraries should not find a type declared twice. Not here: which types are named (names.ts).

export const GLOBAL_NAMES: ReadonlySet<string> = new Set(
  `
    AbortController AbortSignal AbstractRange AbstractWorker AddressErrors AggregateError Algorithm AlgorithmIdentifier AlignSetting
    AlphaOption AnalyserNode AnalyserOptions Animatable Animation AnimationEffect AnimationEvent AnimationTimeline AppendMode Array
    ArrayBuffer ArrayConstructor ArrayIterator ArrayLike AsyncDisposable AsyncGenerator AsyncIterable AsyncIterator Atomics Attr Audio
    AudioBuffer AudioConfiguration AudioContext AudioData AudioDecoder AudioEncoder AudioListener AudioNode AudioParam AudioTimestamp
    AudioWorklet AuthenticatorAttachment AuthenticatorResponse AuthenticatorTransport AutoFill AutoKeyword AutomationRate Awaited BarProp
    BigInt BigInteger BinaryType BitrateMode Blob BlobCallback BlobEvent BlobPart Body BodyInit Boolean BooleanConstructor
    BroadcastChannel BufferSource Cache CacheStorage CallableFunction CanvasCompositing CanvasDirection CanvasFilters CanvasGradient
    CanvasPath CanvasPattern CanvasRect CanvasSettings CanvasState CanvasText CanvasTransform Capitalize CaretPosition
    ChannelInterpretation CharacterData ChildNode ClassDecorator ClientRect ClientTypes Clipboard ClipboardEvent ClipboardItem
    ClipboardItems CloseEvent CodecState ColorGamut CommandEvent Comment CompositeOperation CompositionEvent CompressionFormat
    CompressionStream ComputedKeyframe ConcatArray Console ConstrainBoolean ConstrainDouble ConstructorParameters ConvolverNode
    ConvolverOptions CookieInit CookieList CookieStore Credential CredentialsContainer Crypto CryptoKey CustomEvent DataTransfer DataView
    Date DateConstructor DecompressionStream DecoratorContext DecoratorMetadata DelayNode DelayOptions DigitalCredential DirectionSetting
    Disposable DisposableStack Document DocumentFragment DocumentTimeline DocumentType DoubleRange DragEvent EcdsaParams EffectTiming
    Element ElementInternals EndingType Error ErrorCallback ErrorConstructor ErrorEvent ErrorOptions EvalError Event EventCounts EventInit
    EventListener EventSource EventTarget Exclude External Extract File FileCallback FileList FileReader FileSystem FillMode
    FinalizationRegistry FlatArray Float16Array Float32Array Float32List Float64Array FocusEvent FocusOptions FontDisplay FontFace
    FormData FragmentDirective FullscreenOptions Function FunctionConstructor GainNode GainOptions Gamepad GamepadButton GamepadEvent
    Generator GeneratorFunction Geolocation GeolocationCoordinates GeolocationPosition HardwareAcceleration Headers HeadersInit
    HeadersIterator Highlight HighlightRegistry HighlightType History HkdfParams IdleDeadline Image ImageBitmap ImageCapture ImageData
    ImageDecoder ImageOrientation ImageTrack ImportAssertions ImportAttributes ImportMeta Infinity InputEvent InsertPosition InstanceType
    Int16Array Int32Array Int32List Int8Array IntersectionObserver Intl Iterable IterableIterator Iterator IteratorObject IteratorResult
    KeyAlgorithm KeyFormat KeyType KeyUsage KeyboardEvent Keyframe KeyframeEffect LatencyMode LinkStyle Location Lock LockInfo LockManager
    LockMode LockOptions LoginStatus Lowercase Map MapConstructor MapIterator Math MediaCapabilities MediaConfiguration MediaDevices
    MediaError MediaImage MediaKeys MediaList MediaMetadata MediaProvider MediaRecorder MediaSession MediaSource MediaStream
    MessageChannel MessageEvent MessagePort MethodDecorator MimeType MouseEvent MutationCallback MutationObserver MutationRecord
    NamedCurve NavigateEvent Navigation NavigationActivation NavigationDestination NavigationOptions NavigationResult NavigationTransition
    NavigationType Navigator NavigatorBadge NavigatorCookies NavigatorLanguage NavigatorLocks NavigatorLogin NavigatorPlugins
    NavigatorStorage NewableFunction NoInfer Node NodeFilter NodeIterator NodeList NonNullable Notification NotificationDirection
    NotificationOptions NotificationPermission Number NumberConstructor Object ObjectConstructor OffscreenCanvas Omit Option
    OrientationType OscillatorNode OscillatorOptions OscillatorType OverconstrainedError PannerNode PannerOptions ParameterDecorator
    Parameters ParentNode Partial PayerErrors PaymentAddress PaymentComplete PaymentItem PaymentOptions PaymentRequest PaymentResponse
    Pbkdf2Params Performance PerformanceEntry PerformanceMark PerformanceMeasure PerformanceNavigation PerformanceObserver
    PerformanceTiming PeriodicWave PermissionDescriptor PermissionName PermissionState PermissionStatus Permissions PhotoCapabilities
    PhotoSettings Pick PlaneLayout PlaybackDirection Plugin PluginArray PointerEvent PositionCallback PositionOptions PremultiplyAlpha
    PresentationStyle ProcessingInstruction ProgressEvent Promise PromiseConstructor PromiseLike PropertyDecorator PropertyDefinition
    PropertyDescriptor PropertyKey Proxy ProxyConstructor ProxyHandler PushManager PushSubscription QueuingStrategy Range RangeError
    ReadableStream Readonly ReadonlyArray ReadonlyMap ReadonlySet ReadyState Record RecordingState ReferenceError ReferrerPolicy Reflect
    RegExp RegistrationOptions RemotePlayback RenderingContext Report ReportBody ReportList ReportingObserver Request RequestCache
    RequestCredentials RequestDestination RequestInfo RequestInit RequestMode RequestPriority RequestRedirect Required ResizeObserver
    ResizeQuality Response ResponseInit ResponseType ReturnType Sanitizer SanitizerAttribute SanitizerConfig SanitizerElement
    SanitizerPresets Scheduler Screen ScreenOrientation ScrollAxis ScrollBehavior ScrollOptions ScrollRestoration ScrollSetting
    ScrollTimeline Selection SelectionDirection SelectionMode ServiceWorker Set SetConstructor SetIterator ShadowRoot ShareData
    SharedWorker Slottable SourceBuffer SpeechSynthesis StaticRange Storage StorageEstimate StorageEvent StorageManager String
    StringConstructor StringIterator StyleSheet SubmitEvent SubtleCrypto SuppressedError Symbol SymbolConstructor SyntaxError
    TaskController TaskPriority TaskSignal Temporal Text TextDecoder TextEncoder TextEvent TextMetrics TextTrack ThisType TimeRanges
    TimerHandler ToggleEvent Touch TouchEvent TouchInit TouchList TouchType TrackEvent TransferFunction Transferable TransformStream
    Transformer TransitionEvent TreeWalker TypeError Uint16Array Uint32Array Uint32List Uint8Array Uncapitalize UnderlyingSink
    UnderlyingSource Uppercase UserActivation ValidityState VibratePattern VideoConfiguration VideoDecoder VideoEncoder VideoFrame
    ViewTimeline ViewTransition VisualViewport VoidFunction WakeLock WeakKey WeakMap WeakRef WeakSet WebAssembly WebSocket WebTransport
    WheelEvent Window WindowProxy Worker WorkerOptions WorkerType Worklet WorkletOptions WritableStream WriteParams
  `
    .trim()
    .split(/\s+/),
);
