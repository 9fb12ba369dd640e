/** A headless Chromium, driven over the DevTools protocol on loopback. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { type Json, objectAt, textAt, valueAt } from '../../shared/sim/json.ts';

export type Scheme = 'light' | 'dark';

/**
 * The first of these in PATH, or what `CHROMIUM` says. Undefined, there is none, means that tests
 * skip; with `JOINER_REQUIRE_E2E=1` it is an error instead.
 */
export function chromiumPath(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const found = [env['CHROMIUM'], 'chromium', 'chromium-browser', 'google-chrome']
    .filter((name) => name !== undefined)
    .find((name) => spawnSync(name, ['--version'], { stdio: 'ignore', env }).status === 0);
  if (found === undefined && env['JOINER_REQUIRE_E2E'] === '1') {
    throw new Error('JOINER_REQUIRE_E2E=1, but there is no chromium in PATH; CHROMIUM names one');
  }
  return found;
}

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--disable-component-update',
  '--no-first-run',
  '--hide-scrollbars',
  '--remote-debugging-port=0',
];
const STARTS_MS = 20_000;

type Listener = (method: string, params: Json) => void;

/** Requests and their answers on one socket. */
class Wire {
  private readonly socket: WebSocket;
  private readonly waiting = new Map<
    number,
    { readonly done: (result: Json) => void; readonly failed: (error: Error) => void }
  >();
  private readonly listeners: Listener[] = [];
  private asked = 0;

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.addEventListener('message', ({ data }) => this.answered(JSON.parse(String(data))));
  }

  listen(listener: Listener): void {
    this.listeners.push(listener);
  }

  ask(method: string, params: object = {}): Promise<Json> {
    this.asked += 1;
    const id = this.asked;
    this.socket.send(JSON.stringify({ id, method, params }));
    return new Promise((done, failed) => this.waiting.set(id, { done, failed }));
  }

  close(): void {
    this.socket.close();
  }

  private answered(message: Json): void {
    const own = this.waiting.get(Number(message['id']));
    if (own === undefined) {
      const params = objectAt(message, 'params');
      for (const listener of this.listeners) listener(textAt(message, 'method') ?? '', params);
      return;
    }
    this.waiting.delete(Number(message['id']));
    const error = textAt(message, 'error', 'message');
    if (error === undefined) own.done(objectAt(message, 'result'));
    else own.failed(new Error(error));
  }
}

async function wireTo(url: string): Promise<Wire> {
  const socket = new WebSocket(url);
  await new Promise((done, failed) => {
    socket.addEventListener('open', done);
    socket.addEventListener('error', () => failed(new Error(`no socket at ${url}`)));
  });
  return new Wire(socket);
}

/** One page that is open. */
export class Tab {
  /** What the console, the security policy and uncaught errors said. */
  readonly said: string[] = [];
  /** Addresses that were asked for, the page itself included. */
  readonly requests: string[] = [];
  readonly #wire: Wire;

  constructor(wire: Wire) {
    this.#wire = wire;
    wire.listen((method, params) => {
      if (method === 'Log.entryAdded') this.said.push(textAt(params, 'entry', 'text') ?? '');
      if (method === 'Runtime.consoleAPICalled') this.said.push(JSON.stringify(params['args']));
      if (method === 'Runtime.exceptionThrown') {
        this.said.push(textAt(params, 'exceptionDetails', 'exception', 'description') ?? '?');
      }
      if (method === 'Network.requestWillBeSent') {
        this.requests.push(textAt(params, 'request', 'url') ?? '');
      }
    });
  }

  async open(file: string, scheme: Scheme, width: number, height: number): Promise<void> {
    const wire = this.#wire;
    for (const domain of ['Log', 'Runtime', 'Network', 'Page']) await wire.ask(`${domain}.enable`);
    await wire.ask('Emulation.setEmulatedMedia', {
      features: [{ name: 'prefers-color-scheme', value: scheme }],
    });
    const size = { width, height, deviceScaleFactor: 1, mobile: false };
    await wire.ask('Emulation.setDeviceMetricsOverride', size);
    const loaded = new Promise<void>((done) => {
      wire.listen((method) => {
        if (method === 'Page.loadEventFired') done();
      });
    });
    const url = /^https?:/.test(file) ? file : pathToFileURL(file).href;
    await wire.ask('Page.navigate', { url });
    await loaded;
  }

  /** The value of an expression, as JSON has it. */
  async value(expression: string): Promise<unknown> {
    const parts = { expression, awaitPromise: true, returnByValue: true };
    const answer = await this.#wire.ask('Runtime.evaluate', parts);
    const failed = textAt(answer, 'exceptionDetails', 'exception', 'description');
    if (failed !== undefined) throw new Error(failed);
    return valueAt(answer, 'result', 'value');
  }

  async text(selector: string): Promise<string> {
    return String(
      await this.value(`document.querySelector(${JSON.stringify(selector)}).innerText`),
    );
  }

  /** Runs a script in the page's world, whatever its policy says about scripts. */
  async run(source: string): Promise<void> {
    await this.value(`${source};0`);
  }

  async press(key: string): Promise<void> {
    const text = key === 'Enter' ? '\r' : key === ' ' ? ' ' : undefined;
    const parts = {
      key,
      code: key === ' ' ? 'Space' : key,
      windowsVirtualKeyCode: CODES[key] ?? 0,
    };
    const down = text === undefined ? {} : { text };
    await this.#wire.ask('Input.dispatchKeyEvent', { type: 'keyDown', ...parts, ...down });
    await this.#wire.ask('Input.dispatchKeyEvent', { type: 'keyUp', ...parts });
  }

  /** Moves the mouse to the middle of an element; `click` also presses it. */
  async point(selector: string, click = false): Promise<void> {
    const found = await this.value(
      `(() => { const e = document.querySelector(${JSON.stringify(selector)});
        e.scrollIntoView({ block: 'center' });
        const { x, y, width, height } = e.getBoundingClientRect();
        return [x + width / 2, y + height / 2]; })()`,
    );
    const [x, y] = Array.isArray(found) ? found : [0, 0];
    const mouse = (type: string) =>
      this.#wire.ask('Input.dispatchMouseEvent', { type, x, y, button: 'left', clickCount: 1 });
    await mouse('mouseMoved');
    if (!click) return;
    await mouse('mousePressed');
    await mouse('mouseReleased');
  }

  async screenshot(): Promise<Buffer> {
    const { data } = await this.#wire.ask('Page.captureScreenshot', { format: 'png' });
    return Buffer.from(String(data), 'base64');
  }

  close(): void {
    this.#wire.close();
  }
}

const CODES: Readonly<Record<string, number>> = {
  Tab: 9,
  Enter: 13,
  Escape: 27,
  ' ': 32,
  End: 35,
  Home: 36,
  ArrowLeft: 37,
  ArrowUp: 38,
  ArrowRight: 39,
  ArrowDown: 40,
};

export class Chromium {
  readonly #process: ChildProcess;
  readonly #folder: string;
  readonly #tabs: Tab[] = [];

  private constructor(process: ChildProcess, folder: string) {
    this.#process = process;
    this.#folder = folder;
  }

  static async start(path: string): Promise<Chromium> {
    const folder = mkdtempSync(join(tmpdir(), 'joiner-chromium-'));
    const args = [...FLAGS, `--user-data-dir=${folder}`, 'about:blank'];
    const chromium = new Chromium(spawn(path, args, { stdio: 'ignore' }), folder);
    const until = Date.now() + STARTS_MS;
    while (!existsSync(chromium.#portFile) && Date.now() < until) await sleep(50);
    await sleep(50);
    return chromium;
  }

  get #portFile(): string {
    return join(this.#folder, 'DevToolsActivePort');
  }

  /** A new tab with the file, or with what is at the address. */
  async open(file: string, scheme: Scheme = 'light', width = 1400, height = 1000): Promise<Tab> {
    const [port] = readFileSync(this.#portFile, 'utf8').split('\n');
    const answer = await fetch(`http://127.0.0.1:${port}/json/new?about:blank`, { method: 'PUT' });
    const tab = new Tab(await wireTo(textAt(await answer.json(), 'webSocketDebuggerUrl') ?? ''));
    this.#tabs.push(tab);
    await tab.open(file, scheme, width, height);
    return tab;
  }

  async stop(): Promise<void> {
    for (const tab of this.#tabs) tab.close();
    const ended = new Promise((done) => this.#process.once('exit', done));
    this.#process.kill('SIGKILL');
    await ended;
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}
