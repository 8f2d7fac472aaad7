// What is claimed of every channel: whatever it runs through, a host and a worker have a conversation on it. The far side gives back what it
// hears. Not here: the conversation (worker.ts).
import { deepEqual, equal, ok } from 'node:assert/strict';
import type { Channel } from '../../isolation/channel.ts';
import { type ConformanceCase, casesOf, type Skips } from './case.ts';

/** A channel to be tested. */
export interface ChannelSubject {
  /** Opens one whose far side sends back every message as it is, with its image and the bytes beside it. */
  readonly open: () => ChannelToEcho | Promise<ChannelToEcho>;
  /** Cases that it does not keep, with the reasons. */
  readonly skip?: Skips;
}

export interface ChannelToEcho {
  readonly near: Channel;
  /** Takes the far side away, as an accident would. Where there is none the cases about accidents are not made. */
  readonly lose?: () => void;
}

const PATIENCE_MS = 10_000;

/** The conformance suite of channels. */
export function channelCases({ open, skip }: ChannelSubject): readonly ConformanceCase[] {
  const onChannel = (claim: (ear: Ear, subject: ChannelToEcho) => Promise<void>) => async (): Promise<void> => {
    const subject = await open();
    try {
      await claim(new Ear(subject.near), subject);
    } finally {
      await subject.near.close();
    }
  };
  return casesOf(
    {
      'a message': {
        'arrives as it was sent, whatever is in it': onChannel(async (ear) => {
          for (const text of TEXTS) {
            ear.channel.send(text);
            equal((await ear.next()).text === text, true, `${JSON.stringify(text.slice(0, 60))} came back otherwise`);
          }
        }),
        'arrives once, in the order of sending': onChannel(async (ear) => {
          const sent = Array.from({ length: 500 }, (_, index) => `${index} ${'x'.repeat((index * 37) % 2_000)}`);
          for (const text of sent) ear.channel.send(text);
          const heard: string[] = [];
          while (heard.length < sent.length) heard.push((await ear.next()).text);
          deepEqual(heard, sent);
          await ear.quiet();
        }),
        'never arrives while it is being sent': onChannel(async (ear) => {
          ear.channel.send('now');
          equal(ear.count, 0);
          await ear.next();
        }),
        'may be megabytes long': onChannel(async (ear) => {
          const text = '0123456789é→𝄞 '.repeat(300_000);
          ear.channel.send(text);
          ok((await ear.next()).text === text, 'it came back otherwise');
        }),
        'carries an image beside it': onChannel(async (ear) => {
          const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => index * 31);
          ear.channel.send('with', bytes.slice().buffer);
          ear.channel.send('without');
          ear.channel.send('empty', new ArrayBuffer(0));
          const [first, second, third] = [await ear.next(), await ear.next(), await ear.next()];
          equal(first.text, 'with');
          ok(first.image !== undefined && Buffer.from(first.image).equals(bytes), 'the image came back otherwise');
          deepEqual([second.text, second.image], ['without', undefined]);
          deepEqual([third.text, third.image?.byteLength], ['empty', 0]);
        }),
        'carries bytes beside it, if it says that it does': onChannel(async (ear) => {
          if (ear.channel.carriesBytes !== true) return;
          const sent = [1, 700, 70_000].map((length) => Uint8Array.from({ length }, (_, index) => index * 7));
          ear.channel.send(
            'with',
            undefined,
            sent.map((bytes) => bytes.slice().buffer),
          );
          ear.channel.send('without');
          const [first, second] = [await ear.next(), await ear.next()];
          deepEqual([first.text, first.image, first.beside.length], ['with', undefined, 3]);
          for (const [index, bytes] of sent.entries())
            ok(Buffer.from(first.beside[index] ?? new ArrayBuffer(0)).equals(bytes), 'bytes came back otherwise');
          deepEqual([second.text, second.beside], ['without', []]);
        }),
      },
      closing: {
        'ends the conversation, and is safe to do twice': onChannel(async (ear) => {
          ear.channel.send('before');
          await ear.next();
          await ear.channel.close();
          await ear.channel.close();
          await ear.quiet();
        }),
        'is no loss': onChannel(async (ear) => {
          await ear.channel.close();
          await ear.quiet();
          equal(ear.losses, 0);
        }),
        'makes sending do nothing': onChannel(async (ear) => {
          await ear.channel.close();
          ear.channel.send('after');
          await ear.quiet();
        }),
      },
      'a far side that goes away': {
        'is told once': onChannel(async (ear, { lose }) => {
          if (lose === undefined) return;
          ear.channel.send('before');
          await ear.next();
          lose();
          await ear.loss();
          ear.channel.send('after');
          await ear.quiet();
          equal(ear.losses, 1);
        }),
      },
    },
    skip,
  );
}

interface Heard {
  readonly text: string;
  readonly image: ArrayBuffer | undefined;
  readonly beside: readonly ArrayBuffer[];
}

/** What comes out of a channel. */
class Ear {
  readonly channel: Channel;
  losses = 0;
  readonly #heard: Heard[] = [];
  #wake: () => void = () => undefined;

  constructor(channel: Channel) {
    this.channel = channel;
    channel.onMessage = (text, image, beside = []) => {
      this.#heard.push({ text, image, beside });
      this.#wake();
    };
    channel.onLost = () => {
      this.losses++;
      this.#wake();
    };
  }

  get count(): number {
    return this.#heard.length;
  }

  async next(): Promise<Heard> {
    await this.#until(() => this.#heard.length > 0, 'a message');
    return this.#heard.shift() as Heard;
  }

  loss(): Promise<void> {
    return this.#until(() => this.losses > 0, 'the loss to be told');
  }

  /** Nothing comes for a while. */
  async quiet(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 50));
    equal(this.#heard.length, 0, 'something came that nobody had sent');
  }

  async #until(holds: () => boolean, what: string): Promise<void> {
    const late = Date.now() + PATIENCE_MS;
    while (!holds()) {
      if (Date.now() > late) throw new Error(`Waited ${PATIENCE_MS} ms for ${what}.`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 100);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }
}

const TEXTS = [
  '',
  'plain',
  '\0 in \0 it',
  'line\nbreaks\r\n\u2028\u2029',
  '{"json":"\\u0000\\ud800"}',
  'ümläut, 漢字, 𝄞, 👩‍👩‍👧‍👦',
  '\ufeffmark',
  'x'.repeat(65_535),
  'x'.repeat(65_536),
  'é'.repeat(65_537),
];
