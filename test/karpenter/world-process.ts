import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { RESOURCES } from '../../shared/api/resources.ts';
import { KubeClient } from '../../shared/kube/client.ts';
import { listEach, property, text } from '../../shared/kube/list.ts';
import { systemTiming } from '../../shared/kube/time.ts';
import { fixedToken } from '../../shared/kube/token.ts';
import { httpTransport } from '../../shared/kube/transport.ts';
import type { WorldState } from './world/controls.ts';
import type { WorldFile } from './world/main.ts';

/** A world in a process of its own; see `world/main.ts`. */
export interface World {
  readonly folder: string;
  readonly file: WorldFile;
  state(): Promise<WorldState>;
  /** Objects, and instances that cost money, that are there; after a case: what it has left. */
  left(): Promise<readonly string[]>;
  stop(): Promise<void>;
}

const START_MS_MAX = 120_000;
const STOP_MS_MAX = 60_000;
const POLL_MS = 500;
/** The functions' first round: a class and a pool are looked at by then. */
const SETTLE_MS = 3_000;

export async function startWorld(folder: string): Promise<World> {
  await mkdir(folder, { recursive: true });
  const log = openSync(join(folder, 'world.log'), 'w');
  const program = join(import.meta.dirname, 'world/main.ts');
  const args = ['--disable-warning=ExperimentalWarning', program, folder];
  // It ends by itself when the channel closes, and the control plane with it.
  const child = spawn(process.execPath, args, { stdio: ['ignore', log, log, 'ipc'] });
  closeSync(log);
  const place = join(folder, 'world.json');
  const deadline = performance.now() + START_MS_MAX;
  while (!existsSync(place)) {
    if (child.exitCode !== null || performance.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(
        `the world did not start: ${await readFile(join(folder, 'world.log'), 'utf8')}`,
      );
    }
    await sleep(POLL_MS);
  }
  await sleep(SETTLE_MS);
  const file = JSON.parse(await readFile(place, 'utf8')) as WorldFile;
  const kube = new KubeClient({
    transport: httpTransport({ url: file.server, caPem: file.caPem }),
    tokens: fixedToken(file.adminToken),
    timing: systemTiming,
    name: 'suite-player',
    version: 'test',
  });
  const state = async (): Promise<WorldState> => {
    const response = await fetch(`${file.controls}/state`);
    return (await response.json()) as WorldState;
  };
  return {
    folder,
    file,
    state,
    left: async () => [...(await objectsIn(kube)), ...running(await state())],
    stop: async () => {
      await kube.close();
      await stopChild(child);
    },
  };
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX);
  await ended;
  clearTimeout(timer);
}

const KINDS = ['nodes', 'nodeClaims', 'nodePools', 'nodeClasses'] as const;

async function objectsIn(kube: KubeClient): Promise<readonly string[]> {
  const found: string[] = [];
  for (const kind of KINDS) {
    const own: string[] = [];
    const object = (each: unknown): void => {
      const metadata = property(each, 'metadata');
      const ends = property(metadata, 'deletionTimestamp') === undefined ? '' : ' (being deleted)';
      own.push(`${kind}/${text(property(metadata, 'name'))}${ends}`);
    };
    const visit = { start: () => void own.splice(0), object };
    await listEach(kube, { resource: RESOURCES[kind] }, visit);
    found.push(...own);
  }
  return found;
}

function running({ instances }: WorldState): readonly string[] {
  return instances
    .filter(({ state }) => state === 'running' || state === 'pending')
    .map(({ id, type }) => `instance ${id} ${type}`);
}
