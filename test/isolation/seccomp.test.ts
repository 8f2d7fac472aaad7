// The filter, run by a simulator of the kernel's classic BPF: one verdict for every system call there is.
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { DENIED, type FilteredArch, isFiltered, seccompFilter } from '../../src/isolation/seccomp.ts';

const AUDIT = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;
const I386 = 0x40000003;
const ARM = 0x40000028;
const ARCHES: readonly FilteredArch[] = ['x64', 'arm64'];
const NUMBERS = {
  x64: { clone: 56, clone3: 435, mmap: 9, ioctl: 16, execve: 59 },
  arm64: { clone: 220, clone3: 435, mmap: 222, ioctl: 29, execve: 221 },
} as const;

/** What Node and the engines ask of the kernel in their life (strace of a child that starts, works and ends), by x86-64 and arm64 number. */
const NEEDED: Readonly<Record<string, readonly [x64: number | undefined, arm64: number | undefined]>> = {
  read: [0, 63],
  write: [1, 64],
  readv: [19, 65],
  writev: [20, 66],
  pread64: [17, 67],
  openat: [257, 56],
  close: [3, 57],
  fstat: [5, 80],
  statx: [332, 291],
  readlink: [89, undefined],
  readlinkat: [267, 78],
  getdents64: [217, 61],
  lseek: [8, 62],
  munmap: [11, 215],
  mprotect: [10, 226],
  madvise: [28, 233],
  mremap: [25, 216],
  brk: [12, 214],
  futex: [202, 98],
  epoll_create1: [291, 20],
  epoll_ctl: [233, 21],
  epoll_pwait: [281, 22],
  eventfd2: [290, 19],
  pipe2: [293, 59],
  fcntl: [72, 25],
  getsockname: [51, 204],
  getpeername: [52, 205],
  getsockopt: [55, 209],
  shutdown: [48, 210],
  rt_sigaction: [13, 134],
  rt_sigprocmask: [14, 135],
  rt_sigreturn: [15, 139],
  sigaltstack: [131, 132],
  tgkill: [234, 131],
  gettid: [186, 178],
  getpid: [39, 172],
  getrandom: [318, 278],
  clock_gettime: [228, 113],
  clock_nanosleep: [230, 115],
  sched_yield: [24, 124],
  sched_getaffinity: [204, 123],
  set_robust_list: [273, 99],
  set_tid_address: [218, 96],
  rseq: [334, 293],
  prlimit64: [302, 261],
  prctl: [157, 167],
  getrusage: [98, 165],
  pkey_alloc: [330, 289],
  pkey_mprotect: [329, 288],
  membarrier: [324, 283],
  exit: [60, 93],
  exit_group: [231, 94],
  execve: [59, 221],
};

describe.each(ARCHES)('on %s', (arch) => {
  const filter = seccompFilter(arch);
  const verdict = (number: number, ...args: number[]): string => simulate(filter, { arch: AUDIT[arch], number, args });
  const pick = ([x64, arm64]: readonly [number | undefined, number | undefined]): number | undefined => (arch === 'x64' ? x64 : arm64);

  test('the program is one that the kernel takes', () => {
    expect(filter.length % 8).toBe(0);
    const count = filter.length / 8;
    expect(count).toBeLessThan(4096);
    const instructions = disassemble(filter);
    for (const [index, { code, matches, differs }] of instructions.entries()) {
      expect([0x20, 0x06, 0x15, 0x25, 0x35, 0x45]).toContain(code);
      expect(index + 1 + Math.max(matches, differs), 'no jump leads out of the program').toBeLessThanOrEqual(
        code === 0x06 ? count : count - 1,
      );
    }
    expect(instructions.at(-1)?.code).toBe(0x06);
  });

  test('every call of another architecture ends the process', () => {
    for (const other of [I386, ARM, AUDIT[arch === 'x64' ? 'arm64' : 'x64'], 0])
      for (const number of [0, 1, 11, 41, 59, 64]) expect(simulate(filter, { arch: other, number, args: [] })).toBe('kill');
  });

  test('calls by the 32-bit numbers of x86-64 do not come through', () => {
    for (const number of [0, 1, 41, 59, 520, 545]) expect(verdict(0x40000000 + number)).toBe(arch === 'x64' ? 'kill' : 'ENOSYS');
    expect(verdict(0xffffffff)).toBe(arch === 'x64' ? 'kill' : 'ENOSYS');
  });

  test.each(Object.entries(DENIED))('%s is refused', (_name, numbers) => {
    const number = pick(numbers);
    if (number === undefined) return expect(arch).toBe('arm64');
    expect(verdict(number)).toBe('EPERM');
    expect(verdict(number, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff)).toBe('EPERM');
  });

  test.each(Object.entries(NEEDED))('%s is allowed', (_name, numbers) => {
    const number = pick(numbers);
    if (number !== undefined) expect(verdict(number)).toBe('allow');
  });

  test('all others up to the newest are allowed, and newer ones do not exist', () => {
    const special = new Set<number | undefined>([...Object.values(DENIED).map(pick), ...Object.values(NUMBERS[arch])]);
    for (let number = 0; number <= 462; number++) if (!special.has(number)) expect(verdict(number), String(number)).toBe('allow');
    for (const number of [463, 470, 1000, 0x3fffffff]) expect(verdict(number)).toBe('ENOSYS');
  });

  test('threads may be made; processes and namespaces may not', () => {
    const { clone, clone3 } = NUMBERS[arch];
    // What the C library asks for in pthread_create, and in fork, vfork and posix_spawn.
    expect(verdict(clone, 0x003d0f00)).toBe('allow');
    expect(verdict(clone, 0x01200011)).toBe('EPERM');
    expect(verdict(clone, 0x00004111)).toBe('EPERM');
    expect(verdict(clone, 0)).toBe('EPERM');
    for (const namespace of [0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000])
      expect(verdict(clone, 0x003d0f00 + namespace)).toBe('EPERM');
    expect(verdict(clone3, 0x003d0f00)).toBe('ENOSYS');
  });

  test('memory may be mapped, but no memory that others could share', () => {
    const { mmap } = NUMBERS[arch];
    const [SHARED, PRIVATE, VALIDATE, ANONYMOUS, NORESERVE] = [1, 2, 3, 0x20, 0x4000];
    expect(verdict(mmap, 0, 4096, 3, PRIVATE + ANONYMOUS)).toBe('allow');
    expect(verdict(mmap, 0, 4096, 0, PRIVATE + ANONYMOUS + NORESERVE)).toBe('allow');
    expect(verdict(mmap, 0, 4096, 1, SHARED)).toBe('allow');
    expect(verdict(mmap, 0, 4096, 3, SHARED + ANONYMOUS)).toBe('EPERM');
    expect(verdict(mmap, 0, 4096, 3, VALIDATE + ANONYMOUS)).toBe('EPERM');
  });

  test('nothing can be typed into a terminal', () => {
    const { ioctl } = NUMBERS[arch];
    expect(verdict(ioctl, 0, 0x5412)).toBe('EPERM');
    expect(verdict(ioctl, 0, 0x541c)).toBe('EPERM');
    expect(verdict(ioctl, 0, 0x5401)).toBe('allow');
  });

  const headers = { x64: '/usr/include/x86_64-linux-gnu/asm/unistd_64.h', arm64: '/usr/include/asm-generic/unistd.h' }[arch];
  test.skipIf(!existsSync(headers))(`the numbers are those of the kernel's headers (needs ${headers})`, () => {
    const numbers = new Map<string, number>();
    for (const [, name = '', number] of readFileSync(headers, 'utf8').matchAll(/^#define __NR(?:3264)?_(\w+)\s+(\d+)$/gm))
      numbers.set(name, Number(number));
    // Headers older than a call do not have it.
    const newest = Math.max(...numbers.values());
    for (const [name, both] of [...Object.entries(DENIED), ...Object.entries(NEEDED)]) {
      const number = pick(both);
      if (number === undefined || number <= newest) expect(number, name).toBe(numbers.get(name));
    }
    for (const [name, number] of Object.entries(NUMBERS[arch])) expect(number, name).toBe(numbers.get(name));
  });
});

test('other processors have no filter', () => {
  expect(['x64', 'arm64', 'ia32', 'arm', 'riscv64', 's390x', 'ppc64'].filter(isFiltered)).toEqual(['x64', 'arm64']);
});

interface Call {
  readonly arch: number;
  readonly number: number;
  readonly args: readonly number[];
}

interface Instruction {
  readonly code: number;
  readonly matches: number;
  readonly differs: number;
  readonly operand: number;
}

function disassemble(bytes: Uint8Array): Instruction[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: bytes.length / 8 }, (_, index) => ({
    code: view.getUint16(index * 8, true),
    matches: view.getUint8(index * 8 + 2),
    differs: view.getUint8(index * 8 + 3),
    operand: view.getUint32(index * 8 + 4, true),
  }));
}

/** The kernel's verdict, from `struct seccomp_data` as it would be in memory. */
function simulate(filter: Uint8Array, { arch, number, args }: Call): string {
  const data = new DataView(new ArrayBuffer(64));
  data.setUint32(0, number, true);
  data.setUint32(4, arch, true);
  for (const [index, value] of args.entries()) data.setBigUint64(16 + index * 8, BigInt(value), true);
  const program = disassemble(filter);
  let accumulator = 0;
  for (let at = 0; at < program.length; at++) {
    const { code, matches, differs, operand } = program[at]!;
    const jump = (holds: boolean): void => {
      at += holds ? matches : differs;
    };
    switch (code) {
      case 0x20:
        accumulator = data.getUint32(operand, true);
        break;
      case 0x15:
        jump(accumulator === operand);
        break;
      case 0x25:
        jump(accumulator > operand);
        break;
      case 0x35:
        jump(accumulator >= operand);
        break;
      case 0x45:
        jump((accumulator & operand) !== 0);
        break;
      case 0x06:
        return VERDICTS.get(operand) ?? `unknown verdict ${operand.toString(16)}`;
      default:
        throw new Error(`The program has the instruction ${code.toString(16)}.`);
    }
  }
  throw new Error('The program ends without a verdict.');
}

const VERDICTS: ReadonlyMap<number, string> = new Map([
  [0x7fff0000, 'allow'],
  [0x80000000, 'kill'],
  [0x00050001, 'EPERM'],
  [0x00050026, 'ENOSYS'],
]);
