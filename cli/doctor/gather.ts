import packageJson from '../../package.json' with { type: 'json' };
import { type AwsAccess, ec2Client } from '../../shared/aws/access.ts';
import { Calls } from '../../shared/aws/calls.ts';
import { pricesAtMs } from '../../shared/aws/memory/catalog-file.ts';
import { Ec2Network } from '../../shared/aws/network.ts';
import { isEmbeddedRegion } from '../../shared/catalog/catalog.ts';
import type { NodeClass } from '../../shared/core/model/node-class.ts';
import type { NodePool } from '../../shared/core/model/provisioning.ts';
import { KubeClient } from '../../shared/kube/client.ts';
import { systemTiming } from '../../shared/kube/time.ts';
import { eksTokenSource } from '../../shared/kube/token.ts';
import { httpTransport } from '../../shared/kube/transport.ts';
import { callersAccess } from '../aws-access.ts';
import { dnsSuffixOf } from '../aws-regions.ts';
import { openBucket } from '../bucket.ts';
import { type ClusterOptions, connect } from '../connect.ts';
import {
  callerOf,
  deployedFunctions,
  hasSpotRole,
  quotasOf,
  roleArnOf,
  roleInProfile,
} from './account.ts';
import { isPrivate } from './check-network.ts';
import { accessEntriesOf, clusterOf, networkOf } from './cluster-facts.ts';
import { answers, hostOf, SERVICES, type Service } from './endpoints.ts';
import {
  type ClassFacts,
  type Cluster,
  type DeployedFunction,
  type Facts,
  type Known,
  known,
} from './facts.ts';
import { identitiesOf } from './identities.ts';
import { kubernetesFacts, liveObjects } from './kubernetes.ts';
import type { Signing } from './signed.ts';

export interface Questions {
  readonly cluster: string;
  readonly region: string;
  readonly isInside: boolean;
  /** Where the functions will be; of deployed ones it is known. */
  readonly subnets: readonly string[];
  /** Of manifests; those of the cluster come beside. */
  readonly classes: readonly NodeClass[];
  readonly pools: readonly NodePool[];
  /** Undefined: the way of the functions, with the caller's credentials. */
  readonly kubeconfig: ClusterOptions | undefined;
}

interface Aws {
  readonly access: AwsAccess;
  readonly signing: Signing;
}

export function awsOf(region: string): Aws {
  const access = callersAccess(region, 'doctor');
  const { credentials, endpoint } = access;
  return { access, signing: { region, credentials, endpoint } };
}

/** Everything that the checks ask; what cannot be known says why, and nothing stops the others. */
export async function gather(questions: Questions): Promise<Facts> {
  const { cluster: name, region } = questions;
  const aws = awsOf(region);
  const { access, signing } = aws;
  const [caller, cluster, functions, spotRole, quotas, reach] = await Promise.all([
    known(() => callerOf(signing)),
    known(() => clusterOf(access, name)),
    known(() => deployedFunctions(signing, name)),
    known(() => hasSpotRole(access)),
    quotasOf(access, signing),
    reachOf(region, access.endpoint),
  ]);
  const asked = {
    cluster: name,
    region,
    isInside: questions.isInside,
    hasEmbeddedCatalog: isEmbeddedRegion(region),
  };
  const command = packageJson.version;
  const base = { asked, command, caller, cluster, reach, quotas, spotRole, functions };
  const client = await known(() => clientFor(questions, aws, cluster));
  try {
    const live = client.ok ? await known(() => liveObjects(client.value)) : client;
    const own = live.ok ? live.value : { classes: [], pools: [] };
    const all = distinct([...questions.classes, ...own.classes]);
    const classes = await Promise.all(all.map((each) => classFacts(access, each)));
    const roles = classes.flatMap(({ role }) => (role.ok ? [role.value] : []));
    return {
      ...base,
      nowMs: Date.now(),
      network: await known(() => networkFacts(questions, aws, { cluster, functions })),
      catalogAtMs: await known(() => catalogAt(questions, functions)),
      kubernetes: client.ok ? await known(() => kubernetesFacts(client.value)) : client,
      classes,
      accessEntries: await known(() => accessEntriesOf(access, name, roles)),
      identities: functions.ok
        ? await known(() => identitiesOf(access, name, functions.value))
        : functions,
      pools: distinct([...questions.pools, ...own.pools]),
    };
  } finally {
    if (client.ok) await client.value.close();
  }
}

/** What is given comes before what is in the cluster: it is what will be. */
function distinct<Item extends { readonly name: string }>(items: readonly Item[]): readonly Item[] {
  const byName = new Map(items.toReversed().map((each) => [each.name, each]));
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function reachOf(region: string, endpoint: string | undefined): Promise<Facts['reach']> {
  const all = await Promise.all(
    SERVICES.map(async (service) => {
      const url = endpoint ?? `https://${hostOf(service, region)}/`;
      return [service, await known(() => answers(url))] as const;
    }),
  );
  return Object.fromEntries(all) as Record<Service, Known<'answers'>>;
}

/** By the kubeconfig that was named, else as the functions get in: by a signed token. */
async function clientFor(
  { kubeconfig, cluster: name, region }: Questions,
  { signing }: Aws,
  cluster: Known<Cluster | undefined>,
): Promise<KubeClient> {
  if (kubeconfig !== undefined) return (await connect('joiner-doctor', kubeconfig)).client;
  if (!cluster.ok || cluster.value === undefined) throw new Error('the cluster is not known');
  const { endpoint, caPem } = cluster.value;
  const { nowMs } = systemTiming;
  const { credentials } = signing;
  const dnsSuffix = dnsSuffixOf(region);
  return new KubeClient({
    transport: httpTransport({ url: endpoint, caPem }),
    tokens: eksTokenSource({ cluster: name, region, dnsSuffix, credentials, nowMs }),
    timing: systemTiming,
    name: 'joiner-doctor',
    version: packageJson.version,
    attemptsMax: 2,
  });
}

async function networkFacts(
  { subnets }: Questions,
  { access }: Aws,
  facts: {
    readonly cluster: Known<Cluster | undefined>;
    readonly functions: Known<readonly DeployedFunction[]>;
  },
): Promise<Awaited<ReturnType<typeof networkOf>>> {
  const { cluster, functions } = facts;
  if (!cluster.ok || cluster.value === undefined) throw new Error('the cluster is not known');
  if (!isPrivate(facts)) return { subnetIds: [], endpoints: [], routedSubnetIds: [] };
  const deployed = functions.ok ? functions.value.flatMap((each) => each.subnetIds) : [];
  const given = subnets.length > 0 ? subnets : cluster.value.subnetIds;
  const subnetIds = [...new Set(deployed.length > 0 ? deployed : given)].sort();
  return await networkOf(access, cluster.value.vpcId, subnetIds);
}

async function catalogAt(
  { region, cluster }: Questions,
  functions: Known<readonly DeployedFunction[]>,
): Promise<number | undefined> {
  const bucket = functions.ok
    ? functions.value.map((each) => each.bucket).find(Boolean)
    : undefined;
  if (bucket === undefined) return undefined;
  const { catalog, silence } = await openBucket({ bucket, region, cluster });
  if (catalog === undefined && silence !== undefined) throw new Error(silence);
  return catalog === undefined ? undefined : pricesAtMs(catalog);
}

async function classFacts(access: AwsAccess, nodeClass: NodeClass): Promise<ClassFacts> {
  const network = new Ec2Network({ ec2: ec2Client(access), calls: new Calls() });
  const { role, instanceProfile } = nodeClass;
  const name = Promise.resolve(role ?? roleInProfile(access, instanceProfile ?? ''));
  const [roleName, roleArn, subnets, securityGroups] = await Promise.all([
    known(() => name),
    known(async () => roleArnOf(access, await name)),
    known(() => network.subnets(nodeClass.subnetSelectorTerms)),
    known(() => network.securityGroups(nodeClass.securityGroupSelectorTerms)),
  ]);
  return { nodeClass, role: roleName, roleArn, subnets, securityGroups };
}
