// The page in a real browser: a program watched live, every view, by keyboard alone, in both themes and at both widths, a thousand programs,
// hostile names and files, and what axe-core finds. Needs Debian's Chromium, or another at CHROMIUM; without one it is skipped.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { serveWatch, type Watching } from '../../src/adapters/watch.ts';
import { artifact, type CodeMode, createCodeMode, defineTool, toolResult } from '../../src/index.ts';

const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const EVIL = '<img src=x onerror="document.title=\'pwned\'"><script>document.title="pwned"</script>';
const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');

let release: () => void = () => undefined;
const tools = [
  defineTool({ name: 'quick', description: 'Answers at once.', inputSchema: {}, execute: () => EVIL }),
  defineTool({
    name: 'hold',
    description: 'Waits for the test.',
    inputSchema: {},
    execute: () => new Promise<string>((resolve) => (release = () => resolve('let go'))),
  }),
  defineTool({
    name: 'fail',
    description: 'Fails.',
    inputSchema: {},
    execute: () => {
      throw new Error('no');
    },
  }),
  defineTool({
    name: 'files',
    description: 'Gives files.',
    inputSchema: {},
    execute: () =>
      toolResult({
        value: 1,
        artifacts: [
          artifact({ data: PNG, mediaType: 'image/png', name: 'dot.png' }),
          artifact({ data: `name,age\n"${EVIL.replaceAll('"', '""')}",3\n`, mediaType: 'text/csv', name: 'table.csv' }),
          artifact({ data: JSON.stringify({ list: [1, { evil: EVIL }] }), mediaType: 'application/json', name: 'tree.json' }),
          artifact({
            data: `<svg xmlns="http://www.w3.org/2000/svg" onload="document.title='pwned'"/>`,
            mediaType: 'image/svg+xml',
            name: 'evil.svg',
          }),
          artifact({ data: EVIL, mediaType: 'text/html', name: `${EVIL}.html` }),
          artifact({ data: EVIL, mediaType: 'image/png', name: 'no.png' }),
        ],
      }),
  }),
];

describe.skipIf(!existsSync(CHROMIUM))(`the page in Chromium (skipped without ${CHROMIUM})`, () => {
  let browser: Browser;
  let codeMode: CodeMode;
  let watching: Watching;
  const faults: string[] = [];

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
    codeMode = createCodeMode({ tools, isolation: 'inline', capture: true });
    watching = await serveWatch(codeMode);
  });
  afterEach(() => {
    expect(faults.splice(0)).toEqual([]);
  });
  afterAll(async () => {
    await watching?.close();
    await codeMode?.close();
    await browser?.close();
  });

  async function open(options: BrowserContextOptions = {}, path = ''): Promise<Page> {
    const page = await browser.newPage({ viewport: { width: 1200, height: 700 }, ...options });
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
    page.on('request', (request) => {
      if (!request.url().startsWith(new URL(watching.url).origin) && !request.url().startsWith('blob:'))
        faults.push(`asked for ${request.url()}`);
    });
    await page.goto(watching.url + path);
    return page;
  }

  test('a program is seen while it runs, and its end when it comes', async () => {
    const page = await open();
    const running = codeMode.run('console.log("begun");\nawait tools.hold();\nreturn 42');
    const row = page.locator('.program-row', { hasText: 'console.log("begun")' });
    await row.locator('.badge.running').waitFor();
    await row.click();
    await page.locator('.mark.running').waitFor();
    await page.getByRole('tab', { name: /Output/ }).click();
    await page.getByText('begun', { exact: true }).waitFor();
    release();
    await running;
    await row.locator('.badge.completed').waitFor();
    await page.getByRole('tab', { name: /Result/ }).click();
    await page.locator('pre', { hasText: '42' }).waitFor();
    await page.close();
  });

  test('hostile names, texts and files are shown, and do nothing', async () => {
    await codeMode.run(
      `// ${EVIL}\nconsole.log(${JSON.stringify(EVIL)});\nawait tools.quick({ evil: ${JSON.stringify(EVIL)} });\nawait tools.files();\nawait tools.fail({}).catch(() => 0);\nthrow new Error(${JSON.stringify(EVIL)})`,
      { invocation: { actorId: EVIL, interface: EVIL } },
    );
    const page = await open();
    await page.locator('.program-row').first().click();
    for (const tab of ['Code', 'Calls', 'Output', 'Result', 'Files']) {
      await page.getByRole('tab', { name: tab }).click();
      await page.locator('#tab-panel').waitFor();
    }
    for (const button of await page.locator('.file button').all()) await button.click();
    await page.getByRole('img', { name: 'dot.png' }).waitFor();
    await expect.poll(() => page.locator('.file td').first().textContent()).toBe(EVIL);
    await page.getByText('This is no image that can be shown.').waitFor();
    await page.locator('.file pre', { hasText: 'onload' }).waitFor();
    await page.getByRole('tab', { name: /Calls/ }).click();
    await page.locator('.call-row', { hasText: 'quick' }).first().click();
    await page.getByRole('heading', { name: 'Output' }).waitFor();
    expect(await page.title()).toBe('callgate');
    expect(await page.locator('main img, main script, main svg, main iframe').count()).toBe(0);
    faults.splice(0, faults.length, ...faults.filter((fault) => !fault.includes('no.png')));
    await page.close();
  });

  test('everything is reached by keyboard, and a link leads to the same view', async () => {
    const page = await open();
    await page.locator('.program-row').first().waitFor();
    await page.keyboard.press('j');
    await page.locator('.program-row[aria-current]').waitFor();
    await page.keyboard.press('2');
    await expect.poll(() => page.locator('#tab-calls').getAttribute('aria-selected')).toBe('true');
    await page.locator('#tab-calls').focus();
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => page.locator('#tab-output').getAttribute('aria-selected')).toBe('true');
    const address = page.url();
    await page.keyboard.press('?');
    await page.getByRole('heading', { name: 'Keyboard' }).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('dialog[open]').waitFor({ state: 'detached' });
    await page.keyboard.press('/');
    await page.keyboard.type('hold');
    await expect.poll(() => page.locator('.program-row').count()).toBe(1);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await expect.poll(() => new URL(page.url()).hash).toBe('');
    await page.close();
    const other = await browser.newPage();
    await other.goto(address);
    await expect.poll(() => other.locator('#tab-output').getAttribute('aria-selected')).toBe('true');
    await other.close();
  });

  test('a program is exported as JSON', async () => {
    const page = await open();
    await page.locator('.program-row').first().click();
    await page.locator('.program-row[aria-current]').waitFor();
    const download = page.waitForEvent('download');
    await page.keyboard.press('e');
    const stream = await (await download).createReadStream();
    let text = '';
    for await (const part of stream) text += String(part);
    expect(JSON.parse(text)).toMatchObject({ status: expect.any(String), calls: expect.any(Array) });
    await page.close();
  });

  test.each([
    ['light', 1200],
    ['dark', 1200],
    ['light', 400],
    ['dark', 2000],
  ] as const)('axe-core finds nothing serious, in %s at %i pixels', async (colorScheme, width) => {
    const page = await open({ colorScheme, viewport: { width, height: 800 } });
    await page.locator('.program-row').first().waitFor();
    const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
    await page.evaluate(source);
    const check = async (): Promise<string[]> => {
      const { violations } = (await page.evaluate('axe.run()')) as {
        violations: { id: string; impact: string; nodes: { html: string }[] }[];
      };
      return violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
    };
    expect(await check()).toEqual([]);
    await page.locator('.program-row').first().click();
    for (const tab of ['Code', 'Calls', 'Output', 'Result', 'Files']) {
      await page.getByRole('tab', { name: tab }).click();
      expect(await check(), tab).toEqual([]);
    }
    // Nothing runs out of the window.
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await page.close();
  });

  test('a thousand programs and ten thousand calls are drawn as far as they are seen', async () => {
    const many = createCodeMode({ tools, isolation: 'inline', capture: true, limits: { calls: 20_000 } });
    const other = await serveWatch(many);
    try {
      for (let n = 0; n < 1_000; n++) await many.run(`return ${n}`);
      await many.run('for (let i = 0; i < 100; i++) await Promise.all(Array.from({ length: 100 }, () => tools.quick()));');
      const page = await browser.newPage({ viewport: { width: 1200, height: 700 } });
      await page.goto(other.url);
      await page.getByText('1001 programs').waitFor();
      await page.locator('.program-row').first().waitFor();
      expect(await page.locator('.program-row').count()).toBeLessThan(60);
      await page.locator('.program-row').first().click();
      await page.getByRole('tab', { name: /Calls/ }).click();
      await page.locator('.call-row').first().waitFor();
      expect(await page.locator('.call-row').count()).toBeLessThan(120);
      // The worst of a hundred frames while it scrolls through all of them.
      const worst = (await page.evaluate(`new Promise((done) => {
        const box = document.querySelector('.waterfall .virtual');
        let last = performance.now(), worst = 0, n = 0;
        const step = () => {
          const now = performance.now();
          worst = Math.max(worst, now - last);
          last = now;
          box.scrollTop = n * 2700;
          if (++n < 100) requestAnimationFrame(step); else done(worst);
        };
        requestAnimationFrame(step);
      })`)) as number;
      expect(worst).toBeLessThan(2_000);
      await page.close();
    } finally {
      await other.close();
      await many.close();
    }
  }, 120_000);
});
