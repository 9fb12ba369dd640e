/**
 * The functions as they are deployed, in cold processes: `npm run bench -- functions`. Bytes that
 * are read at start and in all, CPU of importing the bundle next to an empty module in the same
 * run, and the time from the start of the process until the first event is handled.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleFunction } from '../infra/bundle.ts';
import { ENV, FUNCTION_NAMES, type FunctionName } from '../shared/contract.ts';
import { BUCKET, CLUSTER, WireCloud } from '../test/support/aws/cloud.ts';
import { EmptyCluster } from '../test/support/bundles/empty-cluster.ts';

const RUNS = 9;

/** The limit for importing: this many times the CPU of an empty module, and these milliseconds. */
const LIMIT = { factor: 2.5, ms: 60 };

/** An idle tick: nothing is pending and nothing is wrong; of the others the least there can be. */
const EVENTS: Readonly<Record<FunctionName, object>> = {
  watch: {},
  provision: {},
  lifecycle: {},
  interrupt: { Records: [{ messageId: '1', body: '{}' }] },
  nodeclass: {},
  catalog: {},
  install: {
    RequestType: 'Create',
    ResourceProperties: { Step: 'check', Cluster: CLUSTER },
  },
};

/** Time for one pass; `watch` begins its watches and has to leave. */
const REMAINING_MS: Readonly<Partial<Record<FunctionName, number>>> = { watch: 15_100 };
const ONE_PASS_MS = 20_300;

/** What a cold process has needed since it began. */
interface Cold {
  readonly wallMs: number;
  readonly cpuMs: number;
}

const REPORT = `
  const { user, system } = process.cpuUsage();
  const line = JSON.stringify({ wallMs: performance.now(), cpuMs: (user + system) / 1000 });
  process.stderr.write('\\n@@' + line, () => process.exit(0));`;

function importing(file: string): string {
  return `await import(${JSON.stringify(file)});${REPORT}`;
}

function handling(file: string, name: FunctionName, event: object): string {
  return `
    const { handler } = await import(${JSON.stringify(file)});
    const context = {
      awsRequestId: 'bench', functionName: ${JSON.stringify(name)}, memoryLimitInMB: '1769',
      getRemainingTimeInMillis: () => ${REMAINING_MS[name] ?? ONE_PASS_MS} - performance.now(),
    };
    await handler(${JSON.stringify(event)}, context);${REPORT}`;
}

/** Asynchronous, as the servers that it speaks to are in this process. */
async function cold(script: string, env: Readonly<Record<string, string>>): Promise<Cold> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let text = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  await new Promise((resolve) => child.once('close', resolve));
  const [, line] = text.split('@@');
  if (line === undefined) throw new Error(text);
  return JSON.parse(line) as Cold;
}

/** The median of each figure. */
async function median(
  script: string,
  env: Readonly<Record<string, string>>,
  before: () => void = () => {},
): Promise<Cold> {
  const runs: Cold[] = [];
  for (let at = 0; at < RUNS; at += 1) {
    before();
    runs.push(await cold(script, env));
  }
  const middle = (of: (run: Cold) => number): number =>
    runs.map(of).toSorted((a, b) => a - b)[Math.floor(RUNS / 2)] ?? 0;
  return { wallMs: middle((run) => run.wallMs), cpuMs: middle((run) => run.cpuMs) };
}

function bytesBelow(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((file) => statSync(join(folder, file)))
    .reduce((sum, each) => sum + (each.isFile() ? each.size : 0), 0);
}

function environment(name: FunctionName, endpoint: string): Readonly<Record<string, string>> {
  return {
    [ENV.cluster]: CLUSTER,
    [ENV.function]: name,
    [ENV.version]: 'bench',
    [ENV.account]: '111122223333',
    [ENV.dnsSuffix]: 'amazonaws.com',
    [ENV.bucket]: BUCKET,
    [ENV.eventBus]: 'joiner-demo',
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'bench',
    AWS_SECRET_ACCESS_KEY: 'bench',
    AWS_ENDPOINT_URL: endpoint,
  };
}

export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'joiner-bundles-'));
  const cloud = new WireCloud();
  const cluster = new EmptyCluster();
  await cloud.start();
  const api = await cluster.listen();
  cloud.cluster = {
    ...cloud.cluster,
    endpoint: api,
    accessConfig: { authenticationMode: 'API' },
    resourcesVpcConfig: { endpointPublicAccess: true },
  };
  try {
    mkdirSync(folder, { recursive: true });
    const empty = join(folder, 'empty.mjs');
    writeFileSync(empty, 'export const handler = async () => {};\n');
    const base = await median(importing(empty), {});
    const limitMs = LIMIT.factor * base.cpuMs + LIMIT.ms;
    console.log(`An empty module: ${base.cpuMs.toFixed(0)} ms CPU, ${base.wallMs.toFixed(0)} ms.`);
    console.log(`The limit of importing is ${limitMs.toFixed(0)} ms CPU.\n`);
    console.log(
      '| function | kB at start | kB in all | import, ms CPU | × empty | first event, ms | ms CPU |',
    );
    console.log('|---|---|---|---|---|---|---|');
    for (const name of FUNCTION_NAMES) {
      const bundle = await bundleFunction(name, folder);
      const file = join(bundle.folder, 'index.mjs');
      const env = environment(name, cloud.endpoint);
      const imported = await median(importing(file), env);
      const event = { ...EVENTS[name], ResponseURL: `${api}/apis/answer` };
      const first = await median(handling(file, name, event), env, () => {
        cluster.forget();
        cloud.bucket.objects.clear();
      });
      const cells = [
        name,
        (bundle.bytes / 1000).toFixed(0),
        (bytesBelow(bundle.folder) / 1000).toFixed(0),
        `${imported.cpuMs.toFixed(0)}${imported.cpuMs > limitMs ? ' (too much)' : ''}`,
        (imported.cpuMs / base.cpuMs).toFixed(2),
        first.wallMs.toFixed(0),
        first.cpuMs.toFixed(0),
      ];
      console.log(`| ${cells.join(' | ')} |`);
    }
  } finally {
    await cluster.close();
    await cloud.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
