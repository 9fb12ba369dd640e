import { show } from '../../shared/api/read.ts';
import { meant } from '../../shared/contract/nearest.ts';
import { parseQuantity } from '../../shared/core/quantity.ts';
import { selectorMeans } from '../../shared/sim/controllers/budgets.ts';
import { type Json, listAt, objectAt, textAt, textsAt, valueAt } from '../../shared/sim/json.ts';

/** Something that an API server would refuse and that the simulated one runs all the same. */
export interface Doubt {
  readonly path: string;
  readonly message: string;
}

const SELECTING: ReadonlySet<unknown> = new Set([
  'Deployment',
  'ReplicaSet',
  'StatefulSet',
  'DaemonSet',
]);
const WORKLOADS: ReadonlySet<unknown> = new Set([...SELECTING, 'Job']);

/** Counted resources that cannot be shared: all but CPU, memory, storage and hugepages. */
function isExtended(resource: string): boolean {
  return resource.includes('/') && !resource.startsWith('kubernetes.io/');
}

function amount(value: unknown, resource: string): number | undefined {
  const isQuantity = typeof value === 'string' || typeof value === 'number';
  return isQuantity ? parseQuantity(value, resource) : undefined;
}

function isWhole(value: unknown, resource: string): boolean {
  const isQuantity = typeof value === 'string' || typeof value === 'number';
  if (!isQuantity) return true;
  return parseQuantity(value, resource, 'up') === parseQuantity(value, resource, 'down');
}

/** https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/ */
function resourceDoubts(container: unknown, path: string): readonly Doubt[] {
  const requests = objectAt(container, 'resources', 'requests');
  const limits = objectAt(container, 'resources', 'limits');
  const names = [...new Set([...Object.keys(requests), ...Object.keys(limits)])].sort();
  return names.flatMap((name): readonly Doubt[] => {
    const [asked, most] = [requests[name], limits[name]];
    const requested = amount(asked, name);
    const limit = amount(most, name);
    const at = `${path}.resources.${asked === undefined ? 'limits' : 'requests'}.${name}`;
    if (isExtended(name)) {
      const odd = [asked, most].find((each) => each !== undefined && !isWhole(each, name));
      if (odd !== undefined) return [{ path: at, message: `must be whole, not ${show(odd)}` }];
      if (most === undefined) return [{ path: at, message: 'needs a limit of the same amount' }];
      if (requested === undefined || requested === limit) return [];
      return [{ path: at, message: `must equal its limit of ${show(most)}, not ${show(asked)}` }];
    }
    if (requested === undefined || limit === undefined || requested <= limit) return [];
    return [
      { path: at, message: `must be at most its limit of ${show(most)}, not ${show(asked)}` },
    ];
  });
}

/** Names of the objects that pods may name. */
export interface ClassNames {
  readonly priority: ReadonlySet<string>;
  readonly runtime: ReadonlySet<string>;
}

function classDoubts(spec: Json, path: string, classes: ClassNames): readonly Doubt[] {
  const doubts: Doubt[] = [];
  const name = textAt(spec, 'priorityClassName');
  if (name !== undefined && !classes.priority.has(name) && !name.startsWith('system-')) {
    const near = meant(name, classes.priority);
    const message = `no PriorityClass is named "${name}"${near}; priority 0 is taken`;
    doubts.push({ path: `${path}.priorityClassName`, message });
  }
  const runtime = textAt(spec, 'runtimeClassName');
  if (runtime !== undefined && !classes.runtime.has(runtime)) {
    const near = meant(runtime, classes.runtime);
    const message = `no RuntimeClass is named "${runtime}"${near}; no overhead is added`;
    doubts.push({ path: `${path}.runtimeClassName`, message });
  }
  return doubts;
}

function podDoubts(spec: Json, path: string, classes: ClassNames): readonly Doubt[] {
  const doubts: Doubt[] = [...classDoubts(spec, path, classes)];
  if (listAt(spec, 'containers').length === 0) {
    doubts.push({ path: `${path}.containers`, message: 'needs at least one container' });
  }
  for (const field of ['initContainers', 'containers']) {
    for (const [index, container] of listAt(spec, field).entries()) {
      doubts.push(...resourceDoubts(container, `${path}.${field}[${index}]`));
    }
  }
  return doubts;
}

function selectorDoubts(object: Json): readonly Doubt[] {
  if (!SELECTING.has(object['kind'])) return [];
  const selector = valueAt(object, 'spec', 'selector');
  if (selector === undefined) return [{ path: 'spec.selector', message: 'is required' }];
  if (selectorMeans(selector, textsAt(object, 'spec', 'template', 'metadata', 'labels'))) return [];
  return [{ path: 'spec.selector', message: 'does not match the labels of spec.template' }];
}

/** What an API server would refuse of a pod or a workload. */
export function doubtsOf(object: Json, classes: ClassNames): readonly Doubt[] {
  const { kind } = object;
  if (kind === 'Pod') return podDoubts(objectAt(object, 'spec'), 'spec', classes);
  if (!WORKLOADS.has(kind)) return [];
  const spec = objectAt(object, 'spec', 'template', 'spec');
  return [...selectorDoubts(object), ...podDoubts(spec, 'spec.template.spec', classes)];
}
