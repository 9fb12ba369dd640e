/**
 * Asks Karpenter's own scheduler about the workloads that docs/compare.md shows:
 *
 *     node test/parity/first-fit/workloads.ts ORACLE
 *
 * ORACLE is what collect.ts beside this file needs. Printed are its price, its nodes and its time.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { appliedManifests } from '../../../cli/compare/subject.ts';
import { inEksCluster } from '../../../cli/simulate/eks-cluster.ts';
import { loadObjects } from '../../../cli/simulate/load.ts';
import { prepareSimulation } from '../../../cli/simulate/run.ts';
import { loadCatalog } from '../../../shared/catalog/catalog.ts';
import type { InstanceType } from '../../../shared/core/model/instance-type.ts';
import { formatResources } from '../../../shared/core/quantity.ts';
import { type Json, listAt, numberAt, objectAt } from '../../../shared/sim/json.ts';
import { WORLD_START_MS } from '../../../shared/sim/world.ts';

const REGION = 'us-east-1';
const [oracle] = process.argv.slice(2);
if (oracle === undefined) throw new Error('usage: workloads.ts ORACLE');

function encodeType({ name, labels, capacity, overhead, offerings }: InstanceType): Json {
  const { kubeReserved, systemReserved, evictionThreshold } = overhead;
  return {
    name,
    capacity: formatResources(capacity),
    overhead: {
      kubeReserved: formatResources(kubeReserved),
      systemReserved: formatResources(systemReserved),
      evictionThreshold: formatResources(evictionThreshold),
    },
    requirements: Object.fromEntries(
      Object.entries(labels).map(([key, values]) => [key, values ?? []]),
    ),
    offerings: offerings.map(({ zone, zoneId, capacityType, price, available }) => {
      return { zone, zoneId, capacityType, price, available };
    }),
  };
}

/** The manifests of the folder as a case, its pods made by the simulated controllers. */
async function caseOf(folder: string): Promise<Json> {
  const path = join(import.meta.dirname, '..', '..', '..', 'bench', 'compare', folder);
  const manifests = inEksCluster(loadObjects([path], REGION));
  const catalog = await loadCatalog(REGION);
  const { snapshot } = await appliedManifests(manifests, catalog);
  const { world } = await prepareSimulation({ catalog, seed: 1, manifests });
  await world.run(WORLD_START_MS);
  const made = (type: string) =>
    world.store.list(type).map(({ apiVersion, kind, metadata, spec }) => {
      const { name, namespace, labels, uid, creationTimestamp } = metadata;
      const kept = { name, namespace, labels, uid, creationTimestamp };
      return { apiVersion, kind, metadata: kept, spec };
    });
  return {
    name: folder,
    instanceTypes: [...(snapshot.instanceTypes.get('default') ?? [])].map(encodeType),
    nodePools: manifests.filter((each) => each['kind'] === 'NodePool'),
    daemonSets: made('DaemonSet'),
    pods: made('Pod'),
    options: { timeoutSeconds: -1 },
  };
}

const files = mkdtempSync(join(tmpdir(), 'first-fit-workloads-'));
const [input, output] = [join(files, 'case.json'), join(files, 'answer.json')];
for (const folder of ['mixed', 'zones-by-preference', '19500-pods']) {
  writeFileSync(input, JSON.stringify(await caseOf(folder)));
  execFileSync(oracle, ['schedule', '-in', input, '-out', output, '-types', '1']);
  const answer: Json = JSON.parse(readFileSync(output, 'utf8'));
  const price = numberAt(answer, 'totalCheapestPricePerHour') ?? 0;
  const seconds = (numberAt(answer, 'timings', 'solveMs') ?? 0) / 1000;
  const nodes = listAt(answer, 'newNodeClaims').length;
  const left = Object.keys(objectAt(answer, 'errors')).length;
  const text = `$${price.toFixed(4)} an hour, ${nodes} nodes, ${left} pods left`;
  process.stdout.write(`${folder}: ${text}, ${seconds.toFixed(3)} s\n`);
}
rmSync(files, { recursive: true });
