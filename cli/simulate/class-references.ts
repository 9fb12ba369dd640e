import type { Issue } from '../../shared/api/issue.ts';
import { meant } from '../../shared/contract/nearest.ts';
import { type Json, textAt } from '../../shared/sim/json.ts';
import type { Manifest } from '../manifests.ts';
import { issueText, thereAre } from '../unknown-names.ts';

const PATH = ['spec', 'template', 'spec', 'nodeClassRef'] as const;
const GROUP = 'karpenter.k8s.aws';
const KIND = 'EC2NodeClass';

/** AWS runs the nodes of such a NodePool itself: a note says so. */
const OF_AUTO_MODE = 'eks.amazonaws.com';

/** A field of the reference that must have one value. */
function fieldIssue(object: Json, field: 'group' | 'kind', valid: string): readonly Issue[] {
  const word = textAt(object, ...PATH, field) ?? '';
  if (word === '' || word === valid) return [];
  const message = `must be ${valid}, not "${word}": Joiner launches nodes of ${KIND}es`;
  return [{ path: `${PATH.join('.')}.${field}`, message, unknown: { word, known: [valid] } }];
}

function issuesOf(object: Json, classes: readonly string[]): readonly Issue[] {
  if (textAt(object, ...PATH, 'group') === OF_AUTO_MODE) return [];
  const issues = [...fieldIssue(object, 'group', GROUP), ...fieldIssue(object, 'kind', KIND)];
  const name = textAt(object, ...PATH, 'name') ?? '';
  if (issues.length > 0 || classes.includes(name)) return issues;
  const message = `no ${KIND} is named "${name}"${meant(name, classes)}; ${thereAre(classes)}`;
  return [{ path: `${PATH.join('.')}.name`, message }];
}

/** NodePools whose class is nowhere, or is none that nodes are launched by. */
export function classReferences(
  loaded: readonly Manifest[],
  known: readonly Json[],
): readonly string[] {
  const classes = [...loaded.map(({ object }) => object), ...known]
    .filter((object) => object['kind'] === KIND)
    .map((object) => textAt(object, 'metadata', 'name') ?? '');
  return loaded.flatMap(({ place, object }) => {
    if (object['kind'] !== 'NodePool') return [];
    return issuesOf(object, classes).map((each) => `${place(each.path)}: ${issueText(each)}`);
  });
}
