import type * as z from 'zod';
import type { Decoded, Issue } from '../../shared/api/issue.ts';
import { type Definition, decodeParts } from '../../shared/api/schema/decode.ts';
import { type Json, objectAt, textAt } from '../../shared/sim/json.ts';
import type { Manifest } from '../manifests.ts';
import { metadataOf } from './metadata.ts';
import { classOfBeta } from './node-class-beta.ts';
import type { TemplateVersion } from './node-groups/launch-template.ts';
import { partsOf } from './node-groups/node-group.ts';
import { readGroups } from './node-groups/read.ts';
import { poolOfBeta } from './node-pool-beta.ts';
import { classOfProvider } from './node-template.ts';
import { NODE_CLASS_BETA, NODE_TEMPLATE } from './old-classes.ts';
import { NODE_POOL_BETA, PROVISIONER } from './old-pools.ts';
import type { ClassPart, Note, PoolPart } from './part.ts';
import { inlineClass, poolOfProvisioner } from './provisioner.ts';
import { type Identity, isMixed } from './selectors.ts';

/** What becomes of one object of the files; a Provisioner with a provider becomes two. */
export type Item =
  | { readonly kind: 'pool'; readonly from: Manifest; readonly part: PoolPart }
  | { readonly kind: 'class'; readonly from: Manifest; readonly part: ClassPart }
  | { readonly kind: 'as-is'; readonly from: Manifest }
  /** Nothing is made of it. */
  | { readonly kind: 'noted'; readonly from: Manifest; readonly notes: readonly Note[] }
  | { readonly kind: 'left-out'; readonly from: Manifest; readonly why: string };

export interface Read {
  readonly items: readonly Item[];
  readonly issues: readonly Issue[];
}

const OLD_APIS = /^karpenter\.(sh|k8s\.aws)\/v1(alpha|beta)\d+$/;

/** Old kinds that Karpenter makes itself, from those that are converted. */
const MADE: Readonly<Record<string, string>> = {
  'karpenter.sh/v1alpha5 Machine': 'Provisioner',
  'karpenter.sh/v1beta1 NodeClaim': 'NodePool',
};

/** Kinds of our groups that are current in a version that looks old. */
const CURRENT = ['karpenter.sh/v1alpha1 NodeOverlay'];

/** Names the object's kind: `karpenter.sh/v1 NodePool`. */
export function typeOf(object: Json): string {
  return `${textAt(object, 'apiVersion') ?? ''} ${textAt(object, 'kind') ?? ''}`;
}

function spec<Schema extends z.ZodType>(
  definition: Definition<Schema>,
  object: Json,
): Decoded<z.output<Schema>> {
  // A status is of no interest here, whatever is in it.
  const { status: _, ...rest } = object;
  return decodeParts(definition, rest, 'refuse', (parts) => parts.spec);
}

/** The selectors and the launch template of v1alpha1, where they cannot be said in v1. */
function alphaIssues(fields: Json, at: string): readonly Issue[] {
  const selectors = ['amiSelector', 'subnetSelector', 'securityGroupSelector'];
  const mixed = selectors
    .filter((name) => isMixed(objectAt(fields, name) as Readonly<Record<string, string>>))
    .map((name) => ({ path: `${at}.${name}`, message: 'aws-ids cannot stand with other keys' }));
  const template = fields['launchTemplate'];
  if (template === undefined) return mixed;
  const message = `cannot be converted: v1 makes its launch templates itself, so write what "${template}" says as securityGroupSelector, instanceProfile, amiSelector, userData and blockDeviceMappings`;
  return [...mixed, { path: `${at}.launchTemplate`, message }];
}

function provisioner(from: Manifest, identity: Identity, isTaken: (name: string) => boolean): Read {
  const decoded = spec(PROVISIONER, from.object);
  if (!decoded.ok) return { items: [], issues: decoded.issues };
  const { value } = decoded;
  const name = textAt(from.object, 'metadata', 'name') ?? '';
  const className = isTaken(name) ? `${name}-provider` : name;
  const { provider, providerRef } = value;
  const issues = [...alphaIssues(provider ?? {}, 'spec.provider')];
  const { kind = 'AWSNodeTemplate' } = providerRef ?? {};
  if (!['AWSNodeTemplate', 'EC2NodeClass'].includes(kind)) {
    const message = `must be AWSNodeTemplate, not "${kind}"; no other can be converted`;
    issues.push({ path: 'spec.providerRef.kind', message });
  }
  if (issues.length > 0) return { items: [], issues };
  const own = inlineClass(value, className, identity);
  const part = poolOfProvisioner(from.object, value, className);
  const items: Item[] = own === undefined ? [] : [{ kind: 'class', from, part: own }];
  return { items: [...items, { kind: 'pool', from, part }], issues };
}

function nodeTemplate(from: Manifest, identity: Identity): Read {
  const decoded = spec(NODE_TEMPLATE, from.object);
  const issues = decoded.ok ? alphaIssues(decoded.value, 'spec') : decoded.issues;
  if (!decoded.ok || issues.length > 0) return { items: [], issues };
  const part = classOfProvider(metadataOf(from.object), decoded.value, identity);
  return { items: [{ kind: 'class', from, part }], issues };
}

/** Node groups of eksctl and AWS; undefined: the object is about something else. */
function nodeGroups(
  from: Manifest,
  identity: Identity,
  templates: readonly TemplateVersion[],
): Read | undefined {
  const read = readGroups(from.object, templates);
  if (read === undefined) return undefined;
  const made = read.groups.flatMap((group): readonly Item[] => {
    const { nodeClass, pool } = partsOf(group, identity);
    return [
      { kind: 'class', from, part: nodeClass },
      { kind: 'pool', from, part: pool },
    ];
  });
  return { items: [{ kind: 'noted', from, notes: read.notes }, ...made], issues: read.issues };
}

/** What other objects of the files say. */
export interface Known {
  /** Whether a class of that name is among them. */
  readonly isTaken: (className: string) => boolean;
  readonly templates: readonly TemplateVersion[];
}

/** One object of the files, read strictly where it is of an old API. */
export function readItem(from: Manifest, identity: Identity, { isTaken, templates }: Known): Read {
  const { object } = from;
  const groups = nodeGroups(from, identity, templates);
  if (groups !== undefined) return groups;
  switch (typeOf(object)) {
    case 'karpenter.sh/v1alpha5 Provisioner':
      return provisioner(from, identity, isTaken);
    case 'karpenter.k8s.aws/v1alpha1 AWSNodeTemplate':
      return nodeTemplate(from, identity);
    case 'karpenter.sh/v1beta1 NodePool': {
      const decoded = spec(NODE_POOL_BETA, object);
      if (!decoded.ok) return { items: [], issues: decoded.issues };
      const part = poolOfBeta(object, decoded.value);
      return { items: [{ kind: 'pool', from, part }], issues: [] };
    }
    case 'karpenter.k8s.aws/v1beta1 EC2NodeClass': {
      const decoded = spec(NODE_CLASS_BETA, object);
      if (!decoded.ok) return { items: [], issues: decoded.issues };
      const part = classOfBeta(object, decoded.value, identity);
      return { items: [{ kind: 'class', from, part }], issues: [] };
    }
    default:
      return other(from);
  }
}

function other(from: Manifest): Read {
  const type = typeOf(from.object);
  const { [type]: maker } = MADE;
  if (maker !== undefined) {
    const why = `left out: nobody applies such objects, they come of a ${maker}; those of a cluster stay as they are`;
    return { items: [{ kind: 'left-out', from, why }], issues: [] };
  }
  const apiVersion = textAt(from.object, 'apiVersion') ?? '';
  if (apiVersion === '') {
    return { items: [], issues: [{ path: 'apiVersion', message: 'is required' }] };
  }
  if (!OLD_APIS.test(apiVersion) || CURRENT.includes(type)) {
    return { items: [{ kind: 'as-is', from }], issues: [] };
  }
  const read = [PROVISIONER, NODE_TEMPLATE, NODE_POOL_BETA, NODE_CLASS_BETA].map(typeOf);
  const message = `cannot be converted from ${type}; old APIs that can: ${read.join(', ')}`;
  return { items: [], issues: [{ path: 'apiVersion', message }] };
}
