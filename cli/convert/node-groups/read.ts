import type * as z from 'zod';
import type { Issue } from '../../../shared/api/issue.ts';
import { issuesOf } from '../../../shared/api/schema/issues.ts';
import { isJson, type Json, listAt, textAt } from '../../../shared/sim/json.ts';
import type { Note } from '../part.ts';
import { eksctlGroups } from './eksctl.ts';
import { LAUNCH_TEMPLATE_VERSIONS, type TemplateVersion } from './launch-template.ts';
import { DESCRIBED_NODE_GROUP, managedGroup } from './managed.ts';
import type { NodeGroup } from './node-group.ts';
import { DESCRIBED_SCALING_GROUPS, scalingGroups } from './scaling-groups.ts';

/** What the AWS CLI prints has no kind: it gets one here, for messages. */
const MANAGED = 'Nodegroup';
const SCALING = 'AutoScalingGroups';
const TEMPLATES = 'LaunchTemplateVersions';
const API = 'aws-cli';

function named(object: Json, kind: string, name: string): Json {
  return { ...object, apiVersion: API, kind, metadata: { name } };
}

/** An answer of the AWS CLI about node groups, as an object with a kind; undefined: it is none. */
export function awsAnswer(object: Json): Json | undefined {
  if (object['kind'] !== undefined) return undefined;
  if (isJson(object['nodegroup'])) {
    return named(object, MANAGED, textAt(object, 'nodegroup', 'nodegroupName') ?? '?');
  }
  for (const [kind, field] of [
    [SCALING, 'AutoScalingGroupName'],
    [TEMPLATES, 'LaunchTemplateId'],
  ] as const) {
    const names = listAt(object, kind).map((each) => textAt(each, field) ?? '?');
    if (Array.isArray(object[kind])) return named(object, kind, [...new Set(names)].join(','));
  }
  return undefined;
}

/** The groups of an object, what is wrong with it, and what is said beside. */
export interface ReadGroups {
  readonly groups: readonly NodeGroup[];
  readonly issues: readonly Issue[];
  readonly notes: readonly Note[];
}

const NONE: ReadGroups = { groups: [], issues: [], notes: [] };

function decoded<Schema extends z.ZodType>(
  schema: Schema,
  object: Json,
  build: (value: z.output<Schema>) => Partial<ReadGroups>,
): ReadGroups {
  const result = schema.safeParse(object, { reportInput: true });
  if (!result.success) return { ...NONE, issues: issuesOf(result.error, schema) };
  return { ...NONE, ...build(result.data) };
}

/** The versions of launch templates among objects; one that cannot be read has none. */
export function templateVersions(objects: readonly Json[]): readonly TemplateVersion[] {
  return objects.flatMap((object) => {
    if (object['apiVersion'] !== API || object['kind'] !== TEMPLATES) return [];
    const result = LAUNCH_TEMPLATE_VERSIONS.safeParse(object);
    return result.success ? result.data.LaunchTemplateVersions : [];
  });
}

/** Node groups that the object describes; undefined: it is about something else. */
export function readGroups(
  object: Json,
  templates: readonly TemplateVersion[],
): ReadGroups | undefined {
  const { apiVersion, kind } = object;
  if (String(apiVersion).startsWith('eksctl.io/') && kind === 'ClusterConfig') {
    return { ...NONE, ...eksctlGroups(object) };
  }
  if (apiVersion !== API) return undefined;
  if (kind === MANAGED) {
    return decoded(DESCRIBED_NODE_GROUP, object, (value) => managedGroup(value, templates));
  }
  if (kind === SCALING) {
    return decoded(DESCRIBED_SCALING_GROUPS, object, (value) => scalingGroups(value, templates));
  }
  return decoded(LAUNCH_TEMPLATE_VERSIONS, object, () => NONE);
}
