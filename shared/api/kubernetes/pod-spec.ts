import {
  DEFAULT_SCHEDULER,
  type HostPort,
  type PodSpec,
  type PodVolume,
} from '../../core/model/pod.ts';
import {
  addResources,
  maxResources,
  NO_RESOURCES,
  type Resources,
} from '../../core/model/resources.ts';
import type { Issue } from '../issue.ts';
import { type Fields, INT32, Reader, type TooLarge } from '../read.ts';
import { readInTreeEbs } from './in-tree-volumes.ts';
import {
  nodeSelectorTerm,
  podAffinityTerm,
  toleration,
  topologySpreadConstraint,
  weighted,
} from './selectors.ts';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

/** Requests of a container; limits stand in for requests that are not given. */
function containerRequests(read: Reader, value: unknown, path: string): Resources {
  const fields = read.fields(value, path);
  return {
    ...read.resources(fields['limits'], `${path}.limits`, 'up'),
    ...read.resources(fields['requests'], `${path}.requests`, 'up'),
  };
}

interface Container {
  readonly requests: Resources;
  readonly limits: Resources;
  readonly ports: readonly HostPort[];
  readonly isSidecar: boolean;
}

function containers(
  read: Reader,
  value: unknown,
  path: string,
  hostNetwork: boolean,
): readonly Container[] {
  return read.list(value, path).map((each, index) => {
    const at = `${path}[${index}]`;
    const fields = read.fields(each, at);
    const resources = read.fields(fields['resources'], `${at}.resources`);
    return {
      requests: containerRequests(read, fields['resources'], `${at}.resources`),
      limits: read.resources(resources['limits'], `${at}.resources.limits`, 'up'),
      ports: hostPorts(read, fields['ports'], `${at}.ports`, hostNetwork),
      isSidecar: fields['restartPolicy'] === 'Always',
    };
  });
}

function hostPorts(
  read: Reader,
  value: unknown,
  path: string,
  hostNetwork: boolean,
): readonly HostPort[] {
  return read.list(value, path).flatMap((each, index) => {
    const at = `${path}[${index}]`;
    const fields = read.fields(each, at);
    const range = { least: 0, most: 65535 };
    const own = read.integer(fields['hostPort'], `${at}.hostPort`, range);
    const containerPort = read.integer(fields['containerPort'], `${at}.containerPort`, range);
    const port = own || (hostNetwork ? containerPort : undefined);
    if (port === undefined || port === 0) return [];
    const ip = read.text(fields['hostIP'], `${at}.hostIP`) || '0.0.0.0';
    return [{ ip, port, protocol: read.text(fields['protocol'], `${at}.protocol`) || 'TCP' }];
  });
}

/**
 * The greater of all containers together with the sidecars and of the peak while init containers
 * run in order (KEP-753).
 */
function together(
  main: readonly Container[],
  init: readonly Container[],
  what: 'requests' | 'limits',
): Resources {
  let sidecars = NO_RESOURCES;
  let peak = NO_RESOURCES;
  for (const each of init) {
    const running = addResources(sidecars, each[what]);
    if (each.isSidecar) sidecars = running;
    peak = maxResources(peak, running);
  }
  const steady = main.reduce((sum, each) => addResources(sum, each[what]), sidecars);
  return maxResources(steady, peak);
}

/**
 * What kube-scheduler counts for a pod: its containers together, pod-level resources in place of
 * that for cpu, memory and hugepages (KEP-2837), and the runtime class's overhead. A limit of the
 * pod stands in for a request only where no container requests anything, as the API server has it.
 */
function podRequests(
  ofContainers: Resources,
  podLevel: Pick<Container, 'requests' | 'limits'>,
  overhead: Resources,
): Resources {
  const total: Record<string, number> = { ...ofContainers };
  const ofPod = { ...podLevel.limits, ...total, ...podLevel.requests };
  for (const [name, amount] of Object.entries(ofPod)) {
    if (name === 'cpu' || name === 'memory' || name.startsWith('hugepages-')) total[name] = amount;
  }
  return addResources(addResources(total, overhead), { pods: 1 });
}

function volumes(read: Reader, value: unknown, path: string): readonly PodVolume[] {
  return read.list(value, path).flatMap((each, index): readonly PodVolume[] => {
    const at = `${path}[${index}]`;
    const fields = read.fields(each, at);
    const claim = fields['persistentVolumeClaim'];
    if (claim !== undefined && claim !== null) {
      const name = read.fields(claim, `${at}.persistentVolumeClaim`)['claimName'];
      const claimName = read.requiredText(name, `${at}.persistentVolumeClaim.claimName`);
      return [{ kind: 'claim', claimName }];
    }
    const ebs = fields['awsElasticBlockStore'];
    const attached = readInTreeEbs(read, ebs, `${at}.awsElasticBlockStore`);
    if (attached?.volume !== undefined) {
      return [{ kind: 'attached', driver: attached.driver, volume: attached.volume }];
    }
    if (fields['ephemeral'] === undefined || fields['ephemeral'] === null) return [];
    const ephemeral = read.fields(fields['ephemeral'], `${at}.ephemeral`);
    const template = read.fields(
      ephemeral['volumeClaimTemplate'],
      `${at}.ephemeral.volumeClaimTemplate`,
    );
    const spec = read.fields(template['spec'], `${at}.ephemeral.volumeClaimTemplate.spec`);
    return [
      {
        kind: 'ephemeral',
        volumeName: read.requiredText(fields['name'], `${at}.name`),
        storageClassName: read.text(
          spec['storageClassName'],
          `${at}.ephemeral.volumeClaimTemplate.spec.storageClassName`,
        ),
      },
    ];
  });
}

function affinity(read: Reader, value: unknown, path: string) {
  const fields = read.fields(value, path);
  const part = (name: string): Fields => read.fields(fields[name], `${path}.${name}`);
  const node = part('nodeAffinity');
  const required = node[REQUIRED];
  const termsPath = `${path}.nodeAffinity.${REQUIRED}.nodeSelectorTerms`;
  const podTerms = (name: string) =>
    read
      .list(part(name)[REQUIRED], `${path}.${name}.${REQUIRED}`)
      .map((each, index) => podAffinityTerm(read, each, `${path}.${name}.${REQUIRED}[${index}]`));
  const preferred = (name: string) =>
    weighted(
      read,
      part(name)[PREFERRED],
      `${path}.${name}.${PREFERRED}`,
      'podAffinityTerm',
      podAffinityTerm,
    );
  return {
    requiredNodeAffinity:
      required === undefined || required === null
        ? undefined
        : read
            .list(
              read.fields(required, `${path}.nodeAffinity.${REQUIRED}`)['nodeSelectorTerms'],
              termsPath,
            )
            .map((each, index) => nodeSelectorTerm(read, each, `${termsPath}[${index}]`)),
    preferredNodeAffinity: weighted(
      read,
      node[PREFERRED],
      `${path}.nodeAffinity.${PREFERRED}`,
      'preference',
      nodeSelectorTerm,
    ),
    podAffinity: podTerms('podAffinity'),
    podAntiAffinity: podTerms('podAntiAffinity'),
    preferredPodAffinity: preferred('podAffinity'),
    preferredPodAntiAffinity: preferred('podAntiAffinity'),
  };
}

function readPodSpec(read: Reader, spec: Fields, path: string): PodSpec {
  const at = (name: string) => `${path}.${name}`;
  const hostNetwork = read.flag(spec['hostNetwork'], at('hostNetwork')) ?? false;
  const main = containers(read, spec['containers'], at('containers'), hostNetwork);
  const init = containers(read, spec['initContainers'], at('initContainers'), hostNetwork);
  const overhead = read.resources(spec['overhead'], at('overhead'), 'up');
  const ofPod = read.fields(spec['resources'], at('resources'));
  const podLevel = {
    requests: read.resources(ofPod['requests'], at('resources.requests'), 'up'),
    limits: read.resources(ofPod['limits'], at('resources.limits'), 'up'),
  };
  const listeners = [...main, ...init.filter((each) => each.isSidecar)];
  return {
    requests: podRequests(together(main, init, 'requests'), podLevel, overhead),
    limits: { ...together(main, init, 'limits'), ...podLevel.limits },
    nodeSelector: read.labels(spec['nodeSelector'], at('nodeSelector')),
    ...affinity(read, spec['affinity'], at('affinity')),
    tolerations: read
      .list(spec['tolerations'], at('tolerations'))
      .map((each, index) => toleration(read, each, `${at('tolerations')}[${index}]`)),
    topologySpread: read
      .list(spec['topologySpreadConstraints'], at('topologySpreadConstraints'))
      .map((each, index) =>
        topologySpreadConstraint(read, each, `${at('topologySpreadConstraints')}[${index}]`),
      ),
    hostPorts: listeners.flatMap((each) => each.ports),
    volumes: volumes(read, spec['volumes'], at('volumes')),
    priority: read.integer(spec['priority'], at('priority'), INT32) ?? 0,
    priorityClassName: read.text(spec['priorityClassName'], at('priorityClassName')),
    preempts: read.text(spec['preemptionPolicy'], at('preemptionPolicy')) !== 'Never',
    schedulerName: read.text(spec['schedulerName'], at('schedulerName')) ?? DEFAULT_SCHEDULER,
    hasSchedulingGates: read.list(spec['schedulingGates'], at('schedulingGates')).length > 0,
    hasResourceClaims: read.list(spec['resourceClaims'], at('resourceClaims')).length > 0,
    terminationGracePeriodSeconds:
      read.integer(spec['terminationGracePeriodSeconds'], at('terminationGracePeriodSeconds')) ??
      30,
  };
}

/** What of a container decides where its pod runs. */
function containerParts(container: unknown): unknown {
  if (typeof container !== 'object' || container === null) return container;
  const { resources, ports, restartPolicy } = container as Fields;
  return ports === undefined && restartPolicy === undefined
    ? resources
    : [resources, ports, restartPolicy];
}

function listParts(list: unknown): unknown {
  return Array.isArray(list) ? list.map(containerParts) : list;
}

function volumeParts(list: unknown): unknown {
  if (!Array.isArray(list)) return list;
  return list.map((volume) => {
    if (typeof volume !== 'object' || volume === null) return volume;
    const { name, persistentVolumeClaim, ephemeral, awsElasticBlockStore } = volume as Fields;
    if (awsElasticBlockStore !== undefined) return { awsElasticBlockStore };
    return ephemeral === undefined ? persistentVolumeClaim : [name, ephemeral];
  });
}

/** The parts of a spec that are read, as a text: equal texts mean equal {@link PodSpec}s. */
function specText(spec: Fields): string {
  return JSON.stringify([
    listParts(spec['containers']),
    listParts(spec['initContainers']),
    spec['nodeSelector'],
    spec['affinity'],
    spec['tolerations'],
    spec['topologySpreadConstraints'],
    volumeParts(spec['volumes']),
    spec['overhead'],
    spec['resources'],
    spec['hostNetwork'],
    spec['priority'],
    spec['priorityClassName'],
    spec['preemptionPolicy'],
    spec['schedulerName'],
    spec['schedulingGates'],
    spec['resourceClaims'],
    spec['terminationGracePeriodSeconds'],
  ]);
}

/**
 * What such a pod needs is not known, so that it counts as one that fills its node: nothing else is
 * planned there.
 */
function unreadable(spec: PodSpec, issues: readonly Issue[]): PodSpec {
  const [first] = issues;
  if (first === undefined) return spec;
  const requests = { ...spec.requests, pods: Number.MAX_SAFE_INTEGER };
  return { ...spec, requests, unreadable: `${first.path} ${first.message}` };
}

/** Specs kept for sharing; beyond this the oldest are forgotten. */
const SPECS_MAX = 20_000;

/**
 * Decodes pod specs, giving pods whose specs read the same one shared object: reading 100,000 pods
 * of a few hundred workloads costs little more than reading their names.
 */
export class PodSpecReader {
  private readonly known = new Map<
    string,
    { readonly spec: PodSpec; readonly issues: readonly Issue[] }
  >();
  private readonly tooLarge: TooLarge;

  constructor(tooLarge: TooLarge = 'refuse') {
    this.tooLarge = tooLarge;
  }

  read(
    value: unknown,
    path: string,
  ): { readonly spec: PodSpec; readonly issues: readonly Issue[] } {
    const read = new Reader(this.tooLarge);
    const fields = read.fields(value, path);
    const text = `${path}${specText(fields)}`;
    const known = this.known.get(text);
    if (known !== undefined) return known;
    const spec = unreadable(readPodSpec(read, fields, path), read.issues);
    const added = { spec, issues: read.issues };
    if (this.known.size >= SPECS_MAX) {
      const [oldest] = this.known.keys();
      if (oldest !== undefined) this.known.delete(oldest);
    }
    this.known.set(text, added);
    return added;
  }
}
