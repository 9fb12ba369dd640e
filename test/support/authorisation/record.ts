import type { FunctionName } from '../../../shared/contract.ts';
import { FUNCTION_NAMES } from '../../../shared/contract.ts';
import type { WireCloud } from '../aws/cloud.ts';
import type { KubeRequest } from '../bundles/kube-recorder.ts';
import { type Asked, AskedWorld, askedBy } from './asked.ts';

/** A verb on a resource of Kubernetes, where rules can tell it from others. */
export interface KubeAsked {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** What one function has asked for. */
export interface FunctionRecord {
  readonly aws: readonly Asked[];
  readonly kubernetes: readonly KubeAsked[];
}

export type RequestRecord = Readonly<Partial<Record<FunctionName, FunctionRecord>>>;

/** Resources whose objects are named in rules. */
const NAMED = new Set([
  'leases',
  'configmaps',
  'customresourcedefinitions',
  'clusterroles',
  'clusterrolebindings',
  'roles',
  'rolebindings',
  'flowschemas',
]);

/** Gathers what each function asks of AWS and of the cluster, each thing once. */
export class RequestRecorder {
  private readonly cloud: WireCloud;
  private readonly world: AskedWorld;
  private readonly aws = new Map<FunctionName, Map<string, Asked>>();
  private read = 0;

  constructor(cloud: WireCloud) {
    this.cloud = cloud;
    this.world = new AskedWorld(cloud);
  }

  /** Takes in the calls since the last time; before what they name is gone. */
  take(): void {
    this.world.look();
    const { calls } = this.cloud.server;
    for (const call of calls.slice(this.read)) {
      const name = callerOf(call.userAgent);
      if (name === undefined) continue;
      const seen = this.aws.get(name) ?? new Map<string, Asked>();
      for (const each of askedBy(call, this.world)) seen.set(JSON.stringify(each), each);
      this.aws.set(name, seen);
    }
    this.read = calls.length;
  }

  record(requests: readonly KubeRequest[]): RequestRecord {
    this.take();
    return Object.fromEntries(
      FUNCTION_NAMES.map((name) => {
        // What the cluster's admin does is not a matter of rules.
        const own = requests.filter((each) => each.function === name && !each.isAdmin);
        const asked = own.map(kubeAsked);
        const kubernetes = new Map(asked.map((each) => [JSON.stringify(each), each]));
        return [name, { aws: sorted(this.aws.get(name)), kubernetes: sorted(kubernetes) }];
      }),
    );
  }
}

function sorted<Item>(items: ReadonlyMap<string, Item> = new Map()): readonly Item[] {
  return [...items].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, item]) => item);
}

/** Joiner's clients name the function in their user agent. */
function callerOf(userAgent: string): FunctionName | undefined {
  const [, name] = /\bjoiner\/([a-z]+)\b/.exec(userAgent) ?? [];
  return FUNCTION_NAMES.find((each) => each === name);
}

/** Without what rules do not tell apart. */
export function kubeAsked({
  verb,
  group,
  resource,
  namespace,
  name,
}: Pick<KubeRequest, 'verb' | 'group' | 'resource' | 'namespace' | 'name'>): KubeAsked {
  const base = { verb, group, resource };
  if (!NAMED.has(resource)) return base;
  // Kubernetes cannot limit a create to names, but where it comes by an apply.
  return { ...base, namespace, ...(name === '' || verb === 'create' ? {} : { name }) };
}

/** As it is kept: a line for each thing asked, so that a change can be read. */
export function recordText(record: RequestRecord): string {
  const lists = (entries: readonly object[]): string =>
    entries.map((each) => `\n   ${JSON.stringify(each)}`).join(',');
  const functions = Object.entries(record).map(
    ([name, { aws, kubernetes }]) =>
      ` "${name}": {\n  "aws": [${lists(aws)}],\n  "kubernetes": [${lists(kubernetes)}]\n }`,
  );
  return `{\n${functions.join(',\n')}\n}\n`;
}
