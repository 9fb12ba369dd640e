import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import type { FunctionName } from '../../../shared/contract.ts';
import type { DeployedFunction } from './assembly.ts';
import type { Answered, Asked } from './sandbox.ts';

const SANDBOX = join(import.meta.dirname, 'sandbox.ts');

interface Waiting {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** The functions of an assembly, each in a process of its own with the template's environment. */
export class BundledFunctions {
  private readonly functions: readonly DeployedFunction[];
  private readonly environment: (name: FunctionName) => Readonly<Record<string, string>>;
  private readonly sandboxes = new Map<FunctionName, Promise<Sandbox>>();
  /** Everything that the functions have written to their logs. */
  readonly output: string[] = [];

  /** `environment` is what Lambda itself sets beside the template. */
  constructor(
    functions: readonly DeployedFunction[],
    environment: (name: FunctionName) => Readonly<Record<string, string>>,
  ) {
    this.functions = functions;
    this.environment = environment;
  }

  async invoke(name: FunctionName, event: object, remainingMs: number): Promise<unknown> {
    const known = this.sandboxes.get(name) ?? this.start(name);
    this.sandboxes.set(name, known);
    return await (await known).invoke(event, remainingMs);
  }

  /** As when Lambda takes a sandbox away: the next invocation starts cold. */
  async stop(name?: FunctionName): Promise<void> {
    for (const [each, sandbox] of [...this.sandboxes]) {
      if (name !== undefined && name !== each) continue;
      this.sandboxes.delete(each);
      await (await sandbox).stop();
    }
  }

  private async start(name: FunctionName): Promise<Sandbox> {
    const found = this.functions.find((each) => each.name === name);
    if (found === undefined) throw new Error(`there is no function ${name}`);
    const child = fork(SANDBOX, [found.folder], {
      // Nothing of this process's environment, as in Lambda.
      env: { ...found.environment, ...this.environment(name) },
      execArgv: [],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => this.output.push(text));
    }
    const sandbox = new Sandbox(name, child, () => this.output.slice(-3).join(''));
    await sandbox.loaded;
    return sandbox;
  }
}

class Sandbox {
  readonly loaded: Promise<unknown>;
  private readonly name: FunctionName;
  private readonly child: ChildProcess;
  private readonly waiting = new Map<string, Waiting>();
  private count = 0;

  constructor(name: FunctionName, child: ChildProcess, lastWords: () => string) {
    this.name = name;
    this.child = child;
    this.loaded = new Promise((resolve, reject) => this.waiting.set('loaded', { resolve, reject }));
    child.on('message', (message) => this.take(message as Answered));
    child.on('exit', (code) => {
      const error = new Error(`${name} ended with ${code}: ${lastWords()}`);
      for (const { reject } of this.waiting.values()) reject(error);
    });
  }

  async invoke(event: object, remainingMs: number): Promise<unknown> {
    this.count += 1;
    const id = `${this.name}-${this.child.pid}-${this.count}`;
    const answer = new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
    this.child.send({ id, event, remainingMs } satisfies Asked);
    return await answer;
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGKILL');
    await ended;
  }

  private take({ id, answer, error }: Answered): void {
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    if (error === undefined) waiting?.resolve(answer);
    else waiting?.reject(new Error(`${this.name}: ${error}`));
  }
}
