import { parse as parseToml } from 'smol-toml';
import { parse as parseYaml } from 'yaml';
import { contentType, readMultipart } from '../../../shared/aws/user-data/mime.ts';
import type { ModelInstance } from './model/account.ts';

/** What a kubelet would register its node with, read from what the instance was started with. */
export interface Joining {
  readonly cluster: string;
  readonly name: string;
  /** `aws:///<zone>/<id>`. */
  readonly providerId: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly JoiningTaint[];
  readonly podsMax: number;
}

export interface JoiningTaint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

type Boot = Pick<Joining, 'cluster' | 'labels' | 'taints' | 'podsMax'>;

function at(value: unknown, ...path: readonly string[]): unknown {
  let current = value;
  for (const key of path) {
    if (typeof current !== 'object' || current === null) return undefined;
    current = (current as Readonly<Record<string, unknown>>)[key];
  }
  return current;
}

function labelsOf(text: string): Readonly<Record<string, string>> {
  const pairs = text.split(',').filter((pair) => pair !== '');
  return Object.fromEntries(pairs.map((pair) => pair.split('=') as [string, string]));
}

/** `key=value:Effect`. */
function taintOf(text: string): JoiningTaint {
  const [, key = '', value = '', effect = ''] = /^([^=]+)=([^:]*):(\w+)$/.exec(text) ?? [];
  return value === '' ? { key, effect } : { key, value, effect };
}

/** The kubelet's flags as AL2 and Windows pass them. */
function fromFlags(cluster: string, flags: string): Boot {
  const flag = (name: string): string => new RegExp(`--${name}=(\\S+)`).exec(flags)?.[1] ?? '';
  const taints = flag('register-with-taints')
    .split(',')
    .filter((each) => each !== '');
  return {
    cluster,
    labels: labelsOf(flag('node-labels')),
    taints: taints.map(taintOf),
    podsMax: Number(flag('max-pods')),
  };
}

function fromNodeConfig(text: string): Boot {
  const spec = at(parseYaml(text), 'spec');
  const flags = at(spec, 'kubelet', 'flags');
  // Karpenter quotes the list for the shell that starts the kubelet.
  const flag = Array.isArray(flags) ? String(flags[0]) : '';
  const labels = /^--node-labels="?([^"]*)"?$/.exec(flag)?.[1] ?? '';
  return {
    cluster: String(at(spec, 'cluster', 'name')),
    labels: labelsOf(labels),
    taints: at(spec, 'kubelet', 'config', 'registerWithTaints') as readonly JoiningTaint[],
    podsMax: Number(at(spec, 'kubelet', 'config', 'maxPods')),
  };
}

function fromToml(text: string): Boot {
  const kubernetes = at(parseToml(text), 'settings', 'kubernetes');
  const table = at(kubernetes, 'node-taints') as Readonly<Record<string, readonly string[]>>;
  const taints = Object.entries(table ?? {}).flatMap(([key, values]) =>
    values.map((value) => taintOf(`${key}=${value}`)),
  );
  return {
    cluster: String(at(kubernetes, 'cluster-name')),
    labels: at(kubernetes, 'node-labels') as Readonly<Record<string, string>>,
    taints,
    podsMax: Number(at(kubernetes, 'max-pods')),
  };
}

/** The last part decides: it is the one that makes the node join. */
function fromMultipart(text: string): Boot | undefined {
  const reading = readMultipart(text);
  const last = reading.ok ? reading.parts.at(-1) : undefined;
  if (last === undefined) return undefined;
  if (contentType(last) === 'application/node.eks.aws') return fromNodeConfig(last.content);
  const [, cluster = ''] = /bootstrap\.sh '([^']*)'/.exec(last.content) ?? [];
  const [, flags = ''] = /--kubelet-extra-args '([^']*)'/.exec(last.content) ?? [];
  return fromFlags(cluster, flags);
}

function boot(text: string): Boot | undefined {
  if (text.startsWith('MIME-Version')) return fromMultipart(text);
  if (text.startsWith('<powershell>')) {
    const [, cluster = ''] = /-EKSClusterName '([^']*)'/.exec(text) ?? [];
    const [, flags = ''] = /-KubeletExtraArgs '([^']*)'/.exec(text) ?? [];
    return fromFlags(cluster, flags);
  }
  return text.includes('[settings') ? fromToml(text) : undefined;
}

/** Undefined: nothing in the user data makes the instance join a cluster. */
export function joiningOf(instance: ModelInstance): Joining | undefined {
  const text = Buffer.from(instance.template.UserData ?? '', 'base64').toString('utf8');
  const found = boot(text);
  if (found === undefined) return undefined;
  const { zone, id, instanceType } = instance;
  return {
    ...found,
    name: privateDnsName(id),
    providerId: `aws:///${zone}/${id}`,
    labels: {
      ...found.labels,
      'node.kubernetes.io/instance-type': instanceType,
      'topology.kubernetes.io/zone': zone,
      'topology.kubernetes.io/region': zone.slice(0, -1),
    },
  };
}

/** A name of its own for every instance of the model. */
export function privateDnsName(id: string): string {
  const number = Number.parseInt(id.slice(-6), 16);
  const address = [10, (number >> 16) & 255, (number >> 8) & 255, number & 255];
  return `ip-${address.join('-')}.ec2.internal`;
}
