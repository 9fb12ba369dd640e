import { DO_NOT_DISRUPT, normalizeLabelKey } from '../../shared/core/model/labels.ts';
import { isJson, type Json, objectAt } from '../../shared/sim/json.ts';
import { type Note, present } from './part.ts';

/** Written by kubectl and by Karpenter for themselves. */
const WRITTEN_BY_PROGRAMS =
  /^(kubectl\.kubernetes\.io\/last-applied-configuration|compatibility\.karpenter\.(sh|k8s\.aws)\/.*|karpenter\.(sh|k8s\.aws)\/[a-z0-9]+-hash(-version)?)$/;

/** Annotations that were renamed between v1alpha5 and v1. */
export const RENAMED: Readonly<Record<string, string>> = {
  'karpenter.sh/do-not-evict': DO_NOT_DISRUPT,
  'karpenter.sh/do-not-consolidate': DO_NOT_DISRUPT,
  'karpenter.sh/provisioner-name': 'karpenter.sh/nodepool',
};

/** What the user wrote of an object's metadata: name, labels and annotations. */
export function metadataOf(object: Json): Json {
  const { name, labels, annotations } = objectAt(object, 'metadata');
  const own = Object.entries(isJson(annotations) ? annotations : {});
  const kept = own.filter(([key]) => !WRITTEN_BY_PROGRAMS.test(key));
  return present({
    name,
    labels: isJson(labels) && Object.keys(labels).length > 0 ? labels : undefined,
    annotations: kept.length > 0 ? Object.fromEntries(kept) : undefined,
  });
}

type Texts = Readonly<Record<string, string>>;

/** The metadata of nodes, under the names that v1 has for its keys; undefined where there is none. */
export function nodeMetadata(
  labels: Texts | undefined,
  annotations: Texts | undefined,
  field: { readonly labels: string; readonly annotations: string },
): { readonly metadata: Json | undefined; readonly notes: readonly Note[] } {
  const notes: Note[] = [];
  const renamed = Object.entries(annotations ?? {}).map(([key, value]) => {
    const now = Object.hasOwn(RENAMED, key) ? (RENAMED[key] ?? key) : key;
    if (now !== key) {
      const message = `${JSON.stringify(value)}: written as ${now}, which stands for do-not-evict and do-not-consolidate both`;
      notes.push({ field: `${field.annotations}.${key}`, message });
    }
    return [now, value];
  });
  const current = Object.entries(labels ?? {}).map(([key, value]) => [
    normalizeLabelKey(key),
    value,
  ]);
  const metadata = present({
    labels: current.length > 0 ? Object.fromEntries(current) : undefined,
    annotations: renamed.length > 0 ? Object.fromEntries(renamed) : undefined,
  });
  return { metadata: Object.keys(metadata).length > 0 ? metadata : undefined, notes };
}
