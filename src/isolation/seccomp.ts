// The system calls that a sandboxed child may not make, assembled to the program that the kernel runs before each call (classic BPF,
// `struct sock_filter[]`). A second wall behind the namespaces: what is not needed cannot be attacked. Not here: who installs it (bubblewrap.ts).
//
// The rules, in the order in which the kernel looks:
//   1. A call of another architecture, or through x86-64's 32-bit numbers (x32), ends the process: its numbers mean other things.
//   2. Numbers newer than this table do not exist (ENOSYS), which C libraries and Node are used to.
//   3. Threads may be made, processes may not; no new namespaces. `clone3` does not exist (its flags lie in memory, where a filter cannot look),
//      so that C libraries fall back to `clone`.
//   4. Shared memory may not be made: the limit on data would not count it.
//   5. Every name in DENIED is refused with EPERM. Everything else is allowed.
//
// `execve` is allowed, since the filter is installed by the process that is about to become Node by that very call, and a filter cannot tell one
// call from the next. It starts nothing: without `fork` a program could only take the place of the child, under the same filter, limits and
// namespaces, and the only files that could be executed there are Node itself and its libraries. `execveat` and `memfd_create`, which
// execute what no folder holds, are refused.

/** Processors that there is a filter for, as `process.arch` names them. */
export type FilteredArch = 'x64' | 'arm64';

export function isFiltered(arch: string): arch is FilteredArch {
  return arch === 'x64' || arch === 'arm64';
}

/** The filter as bytes, ready for `bwrap --seccomp`. */
export function seccompFilter(arch: FilteredArch): Uint8Array {
  const { audit, clone, clone3, mmap, ioctl, last } = NUMBERS[arch];
  const program: Instruction[] = [
    load(ARCH),
    ...unless('=', audit, [answer(KILL_PROCESS)]),
    load(NUMBER),
    ...(arch === 'x64' ? when('>=', X32_BIT, [answer(KILL_PROCESS)]) : []),
    ...when('>', last, [answer(errno(ENOSYS))]),
    ...when('=', clone3, [answer(errno(ENOSYS))]),
    ...when('=', clone, [
      load(argument(0)),
      ...when('&', NEW_NAMESPACES, [answer(errno(EPERM))]),
      ...when('&', CLONE_THREAD, [answer(ALLOW)]),
      answer(errno(EPERM)),
    ]),
    ...when('=', mmap, [load(argument(3)), ...when('&', MAP_ANONYMOUS, when('&', MAP_SHARED, [answer(errno(EPERM))])), answer(ALLOW)]),
    ...when('=', ioctl, [
      load(argument(1)),
      ...when('=', TIOCSTI, [answer(errno(EPERM))]),
      ...when('=', TIOCLINUX, [answer(errno(EPERM))]),
      answer(ALLOW),
    ]),
    ...deniedNumbers(arch).flatMap((number) => when('=', number, [answer(errno(EPERM))])),
    answer(ALLOW),
  ];
  return assemble(program);
}

/** System calls that are refused with EPERM whatever their arguments, by name: their numbers on x86-64 and on arm64, where they exist. */
export const DENIED: Readonly<Record<string, readonly [x64: number | undefined, arm64: number | undefined]>> = {
  // The network, and passing descriptors. Reading, writing and asking about the inherited pipes is not here.
  socket: [41, 198],
  socketpair: [53, 199],
  connect: [42, 203],
  bind: [49, 200],
  listen: [50, 201],
  accept: [43, 202],
  accept4: [288, 242],
  sendto: [44, 206],
  recvfrom: [45, 207],
  sendmsg: [46, 211],
  recvmsg: [47, 212],
  sendmmsg: [307, 269],
  recvmmsg: [299, 243],
  // Other processes.
  fork: [57, undefined],
  vfork: [58, undefined],
  execveat: [322, 281],
  unshare: [272, 97],
  setns: [308, 268],
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  kcmp: [312, 272],
  pidfd_open: [434, 434],
  pidfd_getfd: [438, 438],
  pidfd_send_signal: [424, 424],
  process_madvise: [440, 440],
  process_mrelease: [448, 448],
  // Parts of the kernel that programs seldom need and attacks often do.
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  io_setup: [206, 0],
  io_destroy: [207, 1],
  io_submit: [209, 2],
  io_cancel: [210, 3],
  io_getevents: [208, 4],
  io_pgetevents: [333, 292],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  seccomp: [317, 277],
  personality: [135, 92],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  vmsplice: [278, 75],
  splice: [275, 76],
  tee: [276, 77],
  modify_ldt: [154, undefined],
  lookup_dcookie: [212, 18],
  // File systems, and files that no folder holds.
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  statmount: [457, 457],
  listmount: [458, 458],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  fanotify_init: [300, 262],
  fanotify_mark: [301, 263],
  mknod: [133, undefined],
  mknodat: [259, 33],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  memfd_create: [319, 279],
  memfd_secret: [447, 447],
  // Memory outside the limit on data, and placed by hand.
  shmget: [29, 194],
  shmctl: [31, 195],
  shmat: [30, 196],
  shmdt: [67, 197],
  semget: [64, 190],
  semctl: [66, 191],
  semtimedop: [220, 192],
  semop: [65, 193],
  msgget: [68, 186],
  msgctl: [71, 187],
  msgrcv: [70, 188],
  msgsnd: [69, 189],
  mq_open: [240, 180],
  mq_unlink: [241, 181],
  mq_notify: [244, 184],
  move_pages: [279, 239],
  migrate_pages: [256, 238],
  mbind: [237, 235],
  set_mempolicy: [238, 237],
  set_mempolicy_home_node: [450, 450],
  // The machine.
  iopl: [172, undefined],
  ioperm: [173, undefined],
  acct: [163, 89],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  create_module: [174, undefined],
  query_module: [178, undefined],
  get_kernel_syms: [177, undefined],
  nfsservctl: [180, 42],
  _sysctl: [156, undefined],
  uselib: [134, undefined],
  ustat: [136, undefined],
  sysfs: [139, undefined],
  syslog: [103, 116],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  adjtimex: [159, 171],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  vhangup: [153, 58],
};

function deniedNumbers(arch: FilteredArch): number[] {
  return Object.values(DENIED)
    .map(([x64, arm64]) => (arch === 'x64' ? x64 : arm64))
    .filter((number) => number !== undefined);
}

/** What differs between processors. `last` is `mseal` of Linux 6.10, the newest call that this table has been checked against. */
const NUMBERS = {
  x64: { audit: 0xc000003e, clone: 56, clone3: 435, mmap: 9, ioctl: 16, last: 462 },
  arm64: { audit: 0xc00000b7, clone: 220, clone3: 435, mmap: 222, ioctl: 29, last: 462 },
} as const satisfies Record<FilteredArch, Record<string, number>>;

const X32_BIT = 0x40000000;
const CLONE_THREAD = 0x00010000;
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const NEW_NAMESPACES = 0x7e020000;
const MAP_SHARED = 0x01;
const MAP_ANONYMOUS = 0x20;
/** Typing into the terminal that started us. */
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;

const EPERM = 1;
const ENOSYS = 38;
const ALLOW = 0x7fff0000;
const KILL_PROCESS = 0x80000000;
const errno = (number: number): number => 0x00050000 | number;

/** Offsets in `struct seccomp_data`. Of an argument the lower half: what is looked at here are ints to the kernel. */
const NUMBER = 0;
const ARCH = 4;
const argument = (index: number): number => 16 + 8 * index;

/** One `struct sock_filter`: an operation, how far to jump when its test holds and when not, and its operand. */
interface Instruction {
  readonly code: number;
  readonly matches: number;
  readonly differs: number;
  readonly operand: number;
}

/** BPF_LD | BPF_W | BPF_ABS: a word of the call into the accumulator. */
const load = (offset: number): Instruction => ({ code: 0x20, matches: 0, differs: 0, operand: offset });
/** BPF_RET | BPF_K: the verdict. */
const answer = (verdict: number): Instruction => ({ code: 0x06, matches: 0, differs: 0, operand: verdict });

/** BPF_JMP with JEQ, JGT, JGE or JSET, against a constant. */
const TESTS = { '=': 0x15, '>': 0x25, '>=': 0x35, '&': 0x45 } as const;

/** `body` when the accumulator passes the test, else whatever follows. */
function when(test: keyof typeof TESTS, operand: number, body: readonly Instruction[]): Instruction[] {
  return [{ code: TESTS[test], matches: 0, differs: body.length, operand }, ...body];
}

function unless(test: keyof typeof TESTS, operand: number, body: readonly Instruction[]): Instruction[] {
  return [{ code: TESTS[test], matches: body.length, differs: 0, operand }, ...body];
}

/** As the kernel reads it: 8 bytes each, in the machine's order, which is little-endian on both processors. */
function assemble(program: readonly Instruction[]): Uint8Array {
  const bytes = new Uint8Array(program.length * 8);
  const view = new DataView(bytes.buffer);
  for (const [index, { code, matches, differs, operand }] of program.entries()) {
    view.setUint16(index * 8, code, true);
    view.setUint8(index * 8 + 2, matches);
    view.setUint8(index * 8 + 3, differs);
    view.setUint32(index * 8 + 4, operand, true);
  }
  return bytes;
}
