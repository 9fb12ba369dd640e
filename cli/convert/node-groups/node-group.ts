import {
  ARCH,
  CAPACITY_TYPE,
  INSTANCE_TYPE,
  ON_DEMAND,
  OS,
  SPOT,
  ZONE,
} from '../../../shared/core/model/labels.ts';
import type { Json } from '../../../shared/sim/json.ts';
import { images } from '../images.ts';
import { identityOf } from '../instances.ts';
import { type ClassPart, type Note, type PoolPart, present } from '../part.ts';
import { CLASS_GROUP, CLASS_KIND, filled } from '../pool.ts';
import type { Identity } from '../selectors.ts';

export interface GroupTaint {
  readonly key: string;
  readonly value?: string | undefined;
  readonly effect: string;
}

/** A requirement on instance types, as NodePools have it. */
export interface TypeRequirement extends Json {
  readonly key: string;
  readonly operator: 'In' | 'Gt' | 'Lt' | 'DoesNotExist';
  readonly values?: readonly string[];
}

/** Fields of a group, as notes and faults name them. */
export interface GroupFields {
  readonly name: string;
  readonly types: string;
  readonly minSize: string;
  readonly maxSize: string;
  readonly image: string;
  readonly identity: string;
  readonly labels: string;
  readonly taints: string;
  readonly kubelet: string;
}

/** A group of nodes that Cluster Autoscaler scales, whoever describes it. */
export interface NodeGroup {
  readonly name: string;
  /** Where the group is in its document, e.g. `managedNodeGroups[0]`. */
  readonly field: string;
  /** How its document names fields below that. */
  readonly fields: GroupFields;
  /** Names of instance types; empty: the requirements select them. */
  readonly instanceTypes: readonly string[];
  readonly requirements: readonly TypeRequirement[];
  readonly capacityTypes: readonly ('spot' | 'on-demand')[];
  /** Empty: those of the subnets. */
  readonly zones: readonly string[];
  /** A family of EC2NodeClasses. */
  readonly family: string;
  /** Of the family's images, such as `v20260112`; undefined: the latest. */
  readonly imageRelease?: string | undefined;
  /** Terms for images of the user's own; empty: the family's latest. */
  readonly imageTerms: readonly Json[];
  readonly role?: string | undefined;
  readonly instanceProfile?: string | undefined;
  readonly subnetTerms: readonly Json[];
  readonly securityGroupTerms: readonly Json[];
  readonly devices?: readonly Json[] | undefined;
  readonly metadataOptions?: Json | undefined;
  readonly userData?: string | undefined;
  readonly detailedMonitoring?: boolean | undefined;
  readonly associatePublicIPAddress?: boolean | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly GroupTaint[];
  readonly tags: Readonly<Record<string, string>>;
  readonly kubelet?: Json | undefined;
  readonly minSize: number;
  /** `spec.limits` of the NodePool; undefined: it has none. */
  readonly limits: Readonly<Record<string, string>> | undefined;
  /** Seconds that a node may live; undefined: as long as it likes. */
  readonly lifetime?: number | undefined;
  /** Of what the group has and a NodePool has not. */
  readonly notes: readonly Note[];
}

/** A name of a group as Kubernetes takes names. */
function objectName(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9.-]+/g, '-')
    .replace(/^[.-]+|[.-]+$/g, '');
}

function requirementsOf(group: NodeGroup): readonly Json[] {
  const { instanceTypes, capacityTypes, zones, family } = group;
  const given: readonly (readonly [string, readonly string[]])[] = [
    [INSTANCE_TYPE, instanceTypes],
    [CAPACITY_TYPE, capacityTypes],
    [ZONE, zones],
    [OS, [family.startsWith('Windows') ? 'windows' : 'linux']],
  ];
  return [
    ...given
      .filter(([, values]) => values.length > 0)
      .map(([key, values]) => ({ key, operator: 'In', values: [...values] })),
    ...group.requirements,
  ];
}

/** A node group has neither; what comes nearest to Cluster Autoscaler is written. */
const DISRUPTION = { consolidationPolicy: 'WhenEmptyOrUnderutilized', consolidateAfter: '10m' };

/** Seconds as v1 has durations, in the greatest unit without a rest. */
function durationOf(seconds: number): string {
  if (seconds % 3600 === 0) return `${seconds / 3600}h`;
  return seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`;
}

/** `maxSize` of a group in nodes. */
export function nodeLimit(maxSize: number | undefined): NodeGroup['limits'] {
  return maxSize === undefined ? undefined : { nodes: String(maxSize) };
}

function notesOf({ name, field, fields, minSize, limits, lifetime }: NodeGroup): readonly Note[] {
  const own = objectName(name);
  const renamed = {
    field: `${field}.${fields.name}`,
    message: `"${name}": written as ${own}, since Kubernetes does not take this name`,
  };
  const least = {
    field: `${field}.${fields.minSize}`,
    message: `${minSize}: left out: a NodePool has no minimum; spec.replicas of a static NodePool or a CapacityBuffer keeps capacity ready`,
  };
  const most = {
    field: `${field}.${fields.maxSize}`,
    message: `not given: the NodePool has no spec.limits`,
  };
  const idle =
    'consolidateAfter: 10m is written out, the default of scale-down-unneeded-time of Cluster Autoscaler';
  const age =
    '; expireAfter: Never is written out, since the group has no maximum lifetime of its nodes';
  return [
    ...(own === name ? [] : [renamed]),
    ...(minSize > 0 ? [least] : []),
    ...(limits === undefined ? [most] : []),
    { field, message: lifetime === undefined ? `${idle}${age}` : idle },
  ];
}

function poolOf(group: NodeGroup): PoolPart {
  const { field, fields, labels, taints, limits, lifetime, kubelet } = group;
  const name = objectName(group.name);
  const metadata = filled(labels) === undefined ? undefined : { labels };
  return {
    metadata: { name },
    spec: {
      template: {
        ...present({ metadata }),
        spec: present({
          requirements: requirementsOf(group),
          taints: filled(taints.map((each) => present({ ...each }))),
          expireAfter: lifetime === undefined ? 'Never' : durationOf(lifetime),
        }),
      },
      disruption: DISRUPTION,
      ...present({ limits }),
    },
    nodeClassRef: { group: CLASS_GROUP, kind: CLASS_KIND, name },
    kubelet: filled(kubelet),
    kubeletField: `${field}.${fields.kubelet}`,
    notes: notesOf(group),
    origins: [
      ['spec.template.spec.requirements', `${field}.${fields.types}`],
      ['spec.template.spec.taints', `${field}.${fields.taints}`],
      ['spec.template.metadata.labels', `${field}.${fields.labels}`],
      ['spec', field],
      ['metadata', field],
    ],
  };
}

function classOf(group: NodeGroup, given: Identity): ClassPart {
  const { field, fields, family, imageTerms, imageRelease, tags } = group;
  const image = `${field}.${fields.image}`;
  const taken = images(family, imageTerms, image, image, imageRelease);
  const { identity, notes } = identityOf(group, given, `${field}.${fields.identity}`);
  return {
    metadata: { name: objectName(group.name) },
    spec: present({
      ...taken.fields,
      ...identity,
      subnetSelectorTerms: group.subnetTerms,
      securityGroupSelectorTerms: group.securityGroupTerms,
      associatePublicIPAddress: group.associatePublicIPAddress,
      blockDeviceMappings: group.devices ?? taken.devices,
      metadataOptions: group.metadataOptions,
      detailedMonitoring: group.detailedMonitoring,
      userData: group.userData,
      tags: filled(tags),
    }),
    notes: [...group.notes, ...taken.notes, ...notes],
    origins: [
      ['spec', field],
      ['metadata', field],
    ],
  };
}

/** An EC2NodeClass and a NodePool of the group's name. */
export function partsOf(
  group: NodeGroup,
  identity: Identity,
): { readonly nodeClass: ClassPart; readonly pool: PoolPart } {
  return { nodeClass: classOf(group, identity), pool: poolOf(group) };
}

/** Both capacity types, one of them, or a share that a NodePool does not know. */
export function capacityTypesOf(
  onDemandBase: number,
  onDemandPercent: number,
  field: string,
): Pick<NodeGroup, 'capacityTypes' | 'notes'> {
  if (onDemandPercent >= 100) return { capacityTypes: [ON_DEMAND], notes: [] };
  if (onDemandBase === 0 && onDemandPercent <= 0) return { capacityTypes: [SPOT], notes: [] };
  const message = `${onDemandBase} on-demand, then ${onDemandPercent} %: left out: a NodePool takes the cheapest of spot and on-demand; two NodePools with limits and weights keep a share`;
  return { capacityTypes: [ON_DEMAND, SPOT], notes: [{ field, message }] };
}

/** `x86_64`, as eksctl and EC2 call architectures. */
export function archRequirement(architectures: readonly string[]): readonly TypeRequirement[] {
  const values = architectures.map((each) => (each === 'x86_64' ? 'amd64' : each));
  return values.length === 0 ? [] : [{ key: ARCH, operator: 'In', values }];
}

/** Tags that AWS, eksctl and autoscalers write themselves; v1 refuses some of them. */
const WRITTEN_BY_PROGRAMS =
  /^(aws|eks|k8s\.io\/cluster-autoscaler|kubernetes\.io\/cluster|alpha\.eksctl\.io|eksctl\.cluster\.k8s\.io|karpenter\.sh)[:/]/;

/** Tags that people have given to instances. */
export function ownTags(tags: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(tags).filter(([key]) => !WRITTEN_BY_PROGRAMS.test(key)));
}
