/**
 * Lets Karpenter's own consolidation bring the clusters of this folder to rest:
 *
 *     node test/parity/first-fit/collect-clusters.ts ORACLE
 *
 * ORACLE is a program that links sigs.k8s.io/karpenter v1.14.1: `ORACLE consolidate -in CASE -out
 * ANSWER -types 1` says what its emptiness, multi-node and single-node consolidation would do, and
 * which a pass would carry out. That is done to the case, and asked again until nothing is found.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Json, listAt, numberAt, textAt } from '../../../shared/sim/json.ts';
import { digestOf } from './cases.ts';
import { CLUSTERS, clusterOf, runningNode } from './clusters.ts';

const ROUNDS_MAX = 60;

const [oracle] = process.argv.slice(2);
if (oracle === undefined) throw new Error('usage: collect-clusters.ts ORACLE');

const folder = mkdtempSync(join(tmpdir(), 'clusters-'));
const [input, output] = [join(folder, 'case.json'), join(folder, 'answer.json')];

function objects(of: unknown, field: string): readonly Json[] {
  return listAt(of, field) as readonly Json[];
}

function nameOf(object: Json): string {
  return textAt(object, 'metadata', 'name') ?? '';
}

/** The first command of the method that a pass would run; undefined: nothing is to be done. */
function commandOn(problem: Json): Json | undefined {
  writeFileSync(input, JSON.stringify(problem));
  execFileSync(oracle ?? '', ['consolidate', '-in', input, '-out', output, '-types', '1']);
  const answer: Json = JSON.parse(readFileSync(output, 'utf8'));
  const chosen = objects(answer, 'methods').find(({ method }) => method === answer['chosen']);
  return objects(chosen, 'commands')[0];
}

/** The case after the command, and how many pods it has evicted. */
function done(problem: Json, command: Json, round: number) {
  const gone = new Set(listAt(command, 'nodes'));
  const places = new Map<unknown, string>();
  for (const each of objects(command, 'existing')) {
    for (const pod of listAt(each, 'pods')) places.set(pod, textAt(each, 'node') ?? '');
  }
  const added = objects(command, 'replacements').map((claim, at) => {
    const name = `new-${String(round).padStart(3, '0')}-${at}`;
    for (const pod of listAt(claim, 'pods')) places.set(pod, name);
    const [wanted, zone, capacityType] = ['type', 'zone', 'capacityType'].map(
      (field) => textAt(claim, 'cheapest', field) ?? '',
    );
    const type = objects(problem, 'instanceTypes').find((each) => textAt(each, 'name') === wanted);
    return runningNode(type ?? {}, name, zone ?? '', capacityType ?? '');
  });
  let evictions = 0;
  const pods = objects(problem, 'pods').map((pod) => {
    if (gone.has(textAt(pod, 'spec', 'nodeName'))) evictions += 1;
    const nodeName = places.get(`default/${nameOf(pod)}`);
    return nodeName === undefined ? pod : { ...pod, spec: { ...Object(pod['spec']), nodeName } };
  });
  const nodes = objects(problem, 'nodes').filter((each) => !gone.has(nameOf(each)));
  const nodeClaims = objects(problem, 'nodeClaims').filter(
    (each) => !gone.has(textAt(each, 'status', 'nodeName')),
  );
  const after = {
    ...problem,
    pods,
    nodes: [...nodes, ...added.map(({ node }) => node)],
    nodeClaims: [...nodeClaims, ...added.map(({ claim }) => claim)],
  };
  return { after, evictions };
}

function priceOf(problem: Json): number {
  const types = new Map(objects(problem, 'instanceTypes').map((type) => [type['name'], type]));
  return objects(problem, 'nodes').reduce((sum, node) => {
    const label = (key: string) => textAt(node, 'metadata', 'labels', key);
    const offering = objects(
      types.get(label('node.kubernetes.io/instance-type')),
      'offerings',
    ).find(
      (each) =>
        each['zone'] === label('topology.kubernetes.io/zone') &&
        each['capacityType'] === label('karpenter.sh/capacity-type'),
    );
    return sum + (numberAt(offering, 'price') ?? Number.NaN);
  }, 0);
}

function restOf(seed: number): Json {
  const start = clusterOf(seed);
  let problem = start;
  let evictions = 0;
  let rounds = 0;
  for (; rounds < ROUNDS_MAX; rounds++) {
    const command = commandOn(problem);
    if (command === undefined) break;
    const { after, evictions: more } = done(problem, command, rounds);
    problem = after;
    evictions += more;
  }
  const rounded = (price: number) => Math.round(price * 1e5) / 1e5;
  const nodes = objects(problem, 'nodes').length;
  const [before, price] = [rounded(priceOf(start)), rounded(priceOf(problem))];
  return { seed, digest: digestOf(start), before, price, nodes, evictions, rounds };
}

const rests = Array.from({ length: CLUSTERS }, (_, index) => restOf(index + 1));
rmSync(folder, { recursive: true });
const lines = rests.map((rest) => `  ${JSON.stringify(rest)}`);
writeFileSync(join(import.meta.dirname, 'clusters.json'), `[\n${lines.join(',\n')}\n]\n`);
process.stdout.write(`${rests.length} clusters\n`);
