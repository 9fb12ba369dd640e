import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { CLUSTER_FUNCTIONS, type FunctionName, kubernetesGroup } from '../../../shared/contract.ts';
import { property, text } from '../../../shared/kube/list.ts';
import type { KubeAsked } from './record.ts';

/** The groups of the functions that run by themselves. */
export const FUNCTION_GROUPS = CLUSTER_FUNCTIONS.filter((name) => name !== 'install').map(
  kubernetesGroup,
);

/** The files of all functions' rights, from the project's root. */
export const RIGHTS_FILES = CLUSTER_FUNCTIONS.map((name) => `infra/rbac/${name}.yaml`);

/** A rule of RBAC as a file has it. */
export interface RightsRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
  /** Undefined: the whole cluster. */
  readonly namespace: string | undefined;
}

/** The objects of a function's file. */
export function rightsObjects(name: FunctionName): readonly unknown[] {
  const path = join(import.meta.dirname, `../../../infra/rbac/${name}.yaml`);
  return parseAllDocuments(readFileSync(path, 'utf8')).map((each): unknown => each.toJS());
}

export function rightsRules(name: FunctionName): readonly RightsRule[] {
  return rightsObjects(name).flatMap((object) => {
    const rules = property(object, 'rules');
    const namespace = text(property(property(object, 'metadata'), 'namespace')) || undefined;
    return Array.isArray(rules) ? rules.map((rule: RightsRule) => ({ ...rule, namespace })) : [];
  });
}

/** The ways in which the rules allow it; none: they do not. */
export function waysOf(rules: readonly RightsRule[], asked: KubeAsked): readonly string[] {
  return rules.flatMap((rule, at) => {
    const { apiGroups, resources, resourceNames, verbs, namespace } = rule;
    const isNamed = resourceNames === undefined || resourceNames.includes(asked.name ?? '');
    const isThere = namespace === undefined || namespace === asked.namespace;
    const isAllowed =
      apiGroups.includes(asked.group) &&
      resources.includes(asked.resource) &&
      verbs.includes(asked.verb);
    const name = resourceNames === undefined ? '' : (asked.name ?? '');
    return isAllowed && isNamed && isThere ? [wayOf(at, asked.verb, asked.resource, name)] : [];
  });
}

/** All ways that the rules have. */
export function allWays(rules: readonly RightsRule[]): readonly string[] {
  return rules.flatMap(({ resources, verbs, resourceNames }, at) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) =>
        (resourceNames ?? ['']).map((name) => wayOf(at, verb, resource, name)),
      ),
    ),
  );
}

function wayOf(at: number, verb: string, resource: string, name: string): string {
  return `${at} ${verb} ${resource}${name === '' ? '' : `/${name}`}`;
}
