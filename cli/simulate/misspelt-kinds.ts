import type { Issue } from '../../shared/api/issue.ts';
import { apiVersion, RESOURCES } from '../../shared/api/resources.ts';
import { nearest } from '../../shared/contract/nearest.ts';
import { type Json, textAt } from '../../shared/sim/json.ts';
import { groupsUsed, kindsOf } from '../../shared/sim/kinds.ts';

/** The version of a group that the simulated cluster uses, such as `karpenter.sh/v1`. */
function versionOf(group: string, kind: string): string {
  const all = Object.values(RESOURCES);
  const resource =
    all.find((each) => each.group === group && each.kind === kind) ??
    all.find((each) => each.group === group);
  return resource === undefined ? `${group}/v1` : apiVersion(resource);
}

/** Groups that only Kubernetes itself has: without a dot. */
function isOfKubernetes(group: string): boolean {
  return !group.includes('.');
}

/** A known kind in a group that has none of this name: no API server takes it. */
function groupIssue(version: string, group: string, kind: string): Issue | undefined {
  const groups = groupsUsed().filter((each) => kindsOf(each).includes(kind));
  if (groups.length === 0) return undefined;
  const isMisspelt = isOfKubernetes(group) || nearest(group, groups) !== undefined;
  if (!isMisspelt) return undefined;
  const valid = groups.map((each) => versionOf(each, kind));
  const near = nearest(version, valid) ?? valid[0] ?? '';
  const message = `"${version}" has no kind ${kind} (did you mean ${near}?)`;
  return { path: 'apiVersion', message };
}

/**
 * What is wrong with an object of a kind that the simulated cluster does not use, where it is
 * probably one that it does use: the kind, or the group, is misspelt. Undefined: it is another.
 */
export function misspeltKind(object: Json): Issue | undefined {
  const kind = textAt(object, 'kind') ?? '';
  const version = textAt(object, 'apiVersion') ?? '';
  const group = version.includes('/') ? (version.split('/')[0] ?? '') : '';
  const known = kindsOf(group);
  if (known.length === 0 || nearest(kind, known) === undefined) {
    return groupIssue(version, group, kind);
  }
  const message = `"${kind}" is no kind of ${version}`;
  return { path: 'kind', message, unknown: { word: kind, known } };
}
