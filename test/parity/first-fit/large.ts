/**
 * Asks Karpenter's own scheduler about the example of 19,500 pods that docs/compare.md shows:
 *
 *     node test/parity/first-fit/large.ts ORACLE
 *
 * ORACLE is what collect.ts beside this file needs. Printed are its price, its nodes and its time.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { appliedManifests } from '../../../cli/compare/subject.ts';
import { loadObjects } from '../../../cli/simulate/load.ts';
import { prepareSimulation } from '../../../cli/simulate/run.ts';
import { encodeResources } from '../../../shared/api/case/overlays.ts';
import type { InstanceType } from '../../../shared/core/model/instance-type.ts';
import { type Json, listAt, objectAt } from '../../../shared/sim/json.ts';
import { WORLD_START_MS } from '../../../shared/sim/world.ts';

const REGION = 'us-east-1';
const [oracle] = process.argv.slice(2);
if (oracle === undefined) throw new Error('usage: large.ts ORACLE');

function encodeType({ name, labels, capacity, overhead, offerings }: InstanceType): Json {
  const { kubeReserved, systemReserved, evictionThreshold } = overhead;
  return {
    name,
    capacity: encodeResources(capacity),
    overhead: {
      kubeReserved: encodeResources(kubeReserved),
      systemReserved: encodeResources(systemReserved),
      evictionThreshold: encodeResources(evictionThreshold),
    },
    requirements: Object.fromEntries(
      Object.entries(labels).map(([key, values]) => [key, values ?? []]),
    ),
    offerings: offerings.map(({ zone, zoneId, capacityType, price, available }) => {
      return { zone, zoneId, capacityType, price, available };
    }),
  };
}

const folder = join(import.meta.dirname, '..', '..', '..', 'bench', 'compare', '19500-pods');
const manifests = loadObjects([folder], REGION);
const { snapshot } = await appliedManifests(manifests, REGION);
const { world } = await prepareSimulation({ region: REGION, seed: 1, manifests });
await world.run(WORLD_START_MS);
const of = (kind: string) => manifests.filter((each) => each['kind'] === kind);
const problem = {
  name: '19500-pods',
  instanceTypes: [...(snapshot.instanceTypes.get('default') ?? [])].map(encodeType),
  nodePools: of('NodePool'),
  daemonSets: of('DaemonSet'),
  // Kinds that the scheduler does not know are not in what it reads.
  pods: world.store.list('Pod').map(({ apiVersion, kind, metadata, spec }) => {
    const { name, namespace, labels, uid, creationTimestamp } = metadata;
    return {
      apiVersion,
      kind,
      metadata: { name, namespace, labels, uid, creationTimestamp },
      spec,
    };
  }),
  options: { timeoutSeconds: -1 },
};
const files = mkdtempSync(join(tmpdir(), 'first-fit-large-'));
const [input, output] = [join(files, 'case.json'), join(files, 'answer.json')];
writeFileSync(input, JSON.stringify(problem));
execFileSync(oracle, ['schedule', '-in', input, '-out', output, '-types', '1']);
const answer: Json = JSON.parse(readFileSync(output, 'utf8'));
rmSync(files, { recursive: true });
const seen = {
  usdPerHour: answer['totalCheapestPricePerHour'],
  nodes: listAt(answer, 'newNodeClaims').length,
  left: Object.keys(objectAt(answer, 'errors')).length,
  timings: answer['timings'],
};
process.stdout.write(`${JSON.stringify(seen, null, 1)}\n`);
