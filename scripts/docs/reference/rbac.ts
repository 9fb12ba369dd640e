import { parseAllDocuments } from 'yaml';
import { CLUSTER_FUNCTIONS, type FunctionName } from '../../../shared/contract.ts';
import { isJson, type Json, listAt, textAt } from '../../../shared/sim/json.ts';
import { textOf } from '../repository.ts';
import { code, heading, pageOf, table } from './text.ts';

function rolesOf(name: FunctionName): readonly Json[] {
  return parseAllDocuments(textOf(`infra/rbac/${name}.yaml`))
    .map((each): unknown => each.toJS())
    .filter(isJson)
    .filter(({ kind }) => kind === 'ClusterRole' || kind === 'Role');
}

function texts(rule: unknown, key: string): string {
  return listAt(rule, key)
    .map((each) => code(String(each) === '' ? 'core' : String(each)))
    .join(', ');
}

function row(role: Json, rule: unknown): readonly string[] {
  const namespace = textAt(role, 'metadata', 'namespace');
  const where = namespace === undefined ? 'everywhere' : code(namespace);
  const names = texts(rule, 'resourceNames');
  const resources = texts(rule, 'resources') + (names === '' ? '' : ` named ${names}`);
  return [texts(rule, 'apiGroups'), resources, texts(rule, 'verbs'), where];
}

/** docs/reference/rbac.md. */
export function rbacPage(): string {
  const sections = CLUSTER_FUNCTIONS.flatMap((name) => [
    `## ${name}`,
    '',
    `Group ${code(`joiner:${name}`)}.`,
    '',
    ...table(
      ['API group', 'resources', 'verbs', 'namespace'],
      rolesOf(name).flatMap((role) => listAt(role, 'rules').map((rule) => row(role, rule))),
    ),
  ]);
  return pageOf([
    ...heading('Rights in the cluster', 'infra/rbac'),
    'Each function has its own group in the cluster, from the access entry of its role. `infra/rbac` is generated from recorded',
    'requests of the functions. `test/infra/coverage` checks that no rule is missing and that none is unused. `catalog` sends',
    'no request to the cluster. [Permissions](../permissions.md) lists the permissions in AWS.',
    '',
    ...sections,
  ]);
}
