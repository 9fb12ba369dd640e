import { randomInt } from 'node:crypto';
import {
  ec2Client,
  eksClient,
  environmentCredentials,
  eventBridgeClient,
  iamClient,
  ssmClient,
} from '../../shared/aws/access.ts';
import { Ec2Compute } from '../../shared/aws/ec2-compute.ts';
import { cachedCluster, describeCluster } from '../../shared/aws/eks-cluster.ts';
import { WakeBus } from '../../shared/aws/events.ts';
import { Ec2Images } from '../../shared/aws/images.ts';
import { LaunchTemplates } from '../../shared/aws/launch-templates.ts';
import type { DecisionLog } from '../../shared/aws/memory/decision-log.ts';
import { Ec2Network } from '../../shared/aws/network.ts';
import { IamProfiles } from '../../shared/aws/profiles.ts';
import type { Catalog } from '../../shared/catalog/facts.ts';
import { catalogPort } from '../../shared/catalog/port.ts';
import { apiDecoders } from '../../shared/kube/api-decoders.ts';
import { KubeClient } from '../../shared/kube/client.ts';
import { kubeCluster } from '../../shared/kube/cluster.ts';
import { kubeLeases } from '../../shared/kube/leases.ts';
import { systemTiming } from '../../shared/kube/time.ts';
import { eksTokenSource } from '../../shared/kube/token.ts';
import { httpTransport } from '../../shared/kube/transport.ts';
import type { Catalog as CatalogPort, Leases, Ports, Recorder } from '../../shared/ports.ts';
import type { Invocation } from './compose.ts';
import type { Config } from './config.ts';
import { openMemory } from './memory.ts';
import { logRecorder, type Telemetry } from './telemetry.ts';

/** Everything a function keeps from one invocation to the next. */
export interface Sandbox {
  readonly ports: Ports;
  readonly kube: KubeClient;
  readonly bus: WakeBus;
  /** Whoever acquires one is the invocation of this request id. */
  readonly leases: (requestId: string) => Leases;
  /** The newest prices that the bucket has, before decisions are made with them. */
  readonly refreshPrices: () => Promise<void>;
  /** Writes what is to be remembered; before the sandbox is frozen. */
  readonly remember: () => Promise<void>;
}

let current: Promise<Sandbox> | undefined;

/** The sandbox of this process, made by its first invocation; one that failed is made again. */
export function openSandbox({ config, telemetry }: Invocation): Promise<Sandbox> {
  current ??= assemble(config, telemetry).catch((error: unknown) => {
    current = undefined;
    throw error;
  });
  return current;
}

/** Closes the sandbox; Lambda never does, tests do. */
export async function closeSandbox(): Promise<void> {
  const sandbox = await current;
  current = undefined;
  await sandbox?.kube.close();
}

/** Decisions in the log and in the bucket. */
function keptRecorder(recorder: Recorder, decisions: DecisionLog): Recorder {
  return {
    ...recorder,
    decision: async (record) => {
      await recorder.decision(record);
      decisions.add(record);
    },
  };
}

async function assemble(config: Config, telemetry: Telemetry): Promise<Sandbox> {
  const { cluster, region } = config;
  const { access, calls, memory, decisions, prices } = await openMemory(config, telemetry);
  const ec2 = ec2Client(access);
  const eks = eksClient(access);
  const facts = cachedCluster(
    () => describeCluster(eks, calls, cluster),
    () => Date.now(),
  );
  const kube = await kubeClient(config, facts);
  const network = new Ec2Network({ ec2, calls });
  const catalog = (): Catalog => prices.current ?? noCatalog(region);
  const templates = new LaunchTemplates({
    ec2,
    calls,
    cluster: facts,
    efaInterfaces: (type) => catalog().types.find((each) => each.name === type)?.efaInterfaces ?? 0,
  });
  const isolated = config.isolatedVpc;
  return {
    kube,
    refreshPrices: () => prices.refresh(),
    remember: async () => {
      await Promise.all([memory.flush(), decisions.flush()]);
    },
    bus: new WakeBus({ eventBridge: eventBridgeClient(access), calls, bus: config.eventBus }),
    leases: (requestId) => kubeLeases({ client: kube, holder: requestId }),
    ports: {
      cluster: kubeCluster({
        client: kube,
        decoders: apiDecoders(),
        onInvalid: (object, issues) => {
          telemetry.logger.warn('object left out', { object, issues: [...issues] });
        },
      }),
      compute: new Ec2Compute({ ec2, calls, templates, cluster }),
      images: new Ec2Images({ ec2, ssm: ssmClient(access), calls, cluster: facts }),
      network,
      profiles: new IamProfiles({ iam: iamClient(access), calls, cluster, region, isolated }),
      catalog: offeringsPort(config, network, catalog),
      memory,
      clock: { nowMs: () => Date.now() },
      ids: { suffix },
      recorder: keptRecorder(logRecorder(telemetry), decisions),
    },
  };
}

async function kubeClient(
  { cluster, region, dnsSuffix, functionName, version }: Config,
  facts: () => Promise<{ readonly endpoint: string; readonly certificateAuthority: string }>,
): Promise<KubeClient> {
  const { endpoint, certificateAuthority } = await facts();
  const caPem = Buffer.from(certificateAuthority, 'base64').toString('utf8');
  return new KubeClient({
    transport: httpTransport({ url: endpoint, caPem }),
    tokens: eksTokenSource({
      cluster,
      region,
      dnsSuffix,
      credentials: async () => environmentCredentials(process.env),
      nowMs: () => Date.now(),
    }),
    timing: systemTiming,
    name: `joiner-${functionName}`,
    version,
  });
}

function noCatalog(region: string): never {
  throw new Error(
    `there is no catalog of ${region} yet: the function catalog writes one within minutes of the deployment`,
  );
}

/** Instance types with the reservations' free instances of this moment. */
function offeringsPort(
  { region, memoryOverhead, reservedEnis }: Config,
  network: Ec2Network,
  catalog: () => Catalog,
): CatalogPort {
  const available = new Map<string, number>();
  const port = catalogPort(region, catalog, () => ({
    reservedNetworkInterfaces: reservedEnis,
    memoryOverhead,
    availableReservations: available,
  }));
  return {
    region,
    get source() {
      return port.source;
    },
    instanceTypes: async (nodeClass) => {
      const terms = nodeClass.capacityReservationSelectorTerms;
      const found = terms.length === 0 ? [] : await network.reservations(terms);
      for (const each of found) available.set(each.id, each.available);
      return await port.instanceTypes(nodeClass);
    },
  };
}

/** As Kubernetes makes names: no vowels, and no digits that look like letters. */
const LETTERS = 'bcdfghjklmnpqrstvwxz2456789';

function suffix(): string {
  return Array.from({ length: 5 }, () => LETTERS[randomInt(LETTERS.length)] ?? 'x').join('');
}
