import { aCase } from '../manifests.ts';
import { GOOD, type Row, row } from './row.ts';

function caseWith(change: (each: Record<string, unknown>) => void): string {
  const changed = aCase();
  change(changed);
  return JSON.stringify(changed);
}

function first(object: Record<string, unknown>, field: string): Record<string, unknown> {
  return (object[field] as Record<string, unknown>[])[0] ?? {};
}

/** A case whose first offering has these fields. */
function withOffering(fields: object): string {
  return caseWith((each) =>
    Object.assign(first(first(each, 'instanceTypes'), 'offerings'), fields),
  );
}

export const CASES: readonly Row[] = [
  row('no case', {}, 'solve', "missing required argument 'case.json'"),
  row('a case that is not there', {}, 'solve @/none.json', '@/none.json: no such file'),
  row('a folder as case', {}, 'solve @', '@: is a folder'),
  row(
    'a case that is no JSON',
    { 'c.json': '{\n "name": oops\n}' },
    'solve @/c.json',
    '@/c.json:2:10: is not JSON',
  ),
  row(
    'a file that is cut off',
    { 'c.json': '{\n "pods": [],\n "nodes": [1,\n' },
    'solve @/c.json',
    '@/c.json:3:14: is not JSON: Unexpected end of JSON input',
  ),
  row('NaN', { 'c.json': '{"pods": NaN}' }, 'solve @/c.json', '@/c.json:1:10: is not JSON'),
  row('a list as case', { 'c.json': '[]' }, 'solve @/c.json', 'must be an object, not []'),
  row(
    'an unknown field',
    { 'c.json': caseWith((each) => Object.assign(each, { pod: [] })) },
    'solve @/c.json',
    '@/c.json: pod is not a known field (did you mean pods?); valid: name',
  ),
  row(
    'an unknown option',
    { 'c.json': caseWith((each) => Object.assign(each, { options: { fast: true } })) },
    'solve @/c.json',
    'options.fast is not a known field; valid: preferencePolicy',
  ),
  row(
    'an unknown policy',
    {
      'c.json': caseWith((each) => Object.assign(each, { options: { preferencePolicy: 'Maybe' } })),
    },
    'solve @/c.json',
    'options.preferencePolicy must be one of Respect, Ignore, not "Maybe"',
  ),
  row(
    'an unknown effort',
    { 'c.json': caseWith((each) => Object.assign(each, { options: { effort: 'most' } })) },
    'solve @/c.json',
    'options.effort must be one of quick, normal, thorough, not "most"',
  ),
  row(
    'an unknown effort as option',
    { 'c.json': caseWith(() => undefined) },
    'solve @/c.json --effort most',
    'quick, normal, thorough',
  ),
  row(
    'no pods',
    { 'c.json': caseWith((each) => delete each['pods']) },
    'solve @/c.json',
    'pods is required',
  ),
  row(
    'a price as text',
    { 'c.json': withOffering({ price: '1' }) },
    'solve @/c.json',
    'instanceTypes[0].offerings[0].price must be a number of at least 0, not "1"',
  ),
  row(
    'a negative price',
    { 'c.json': withOffering({ price: -1 }) },
    'solve @/c.json',
    'instanceTypes[0].offerings[0].price',
    '-1',
  ),
  row(
    'an unknown capacity type',
    { 'c.json': withOffering({ capacityType: 'free' }) },
    'solve @/c.json',
    'must be one of on-demand, spot, reserved, not "free"',
  ),
  row(
    'a capacity that is none',
    {
      'c.json': caseWith((each) =>
        Object.assign(first(each, 'instanceTypes'), { capacity: { cpu: 'two' } }),
      ),
    },
    'solve @/c.json',
    'instanceTypes[0].capacity.cpu must be a quantity',
  ),
  row(
    'an unknown field of a NodePool',
    { 'c.json': caseWith((each) => Object.assign(first(each, 'nodePools'), { sepc: {} })) },
    'solve @/c.json',
    'nodePools[0].sepc is not a known field',
  ),
  row(
    'two pods of one name',
    { 'c.json': caseWith((each) => (each['pods'] as object[]).push(first(each, 'pods'))) },
    'solve @/c.json',
    'pods[1].metadata.name is the second Pod/web',
  ),
  row(
    'no rounds',
    { 'c.json': caseWith(() => {}) },
    'solve @/c.json --repeat 0',
    '--repeat 0: expected a whole number',
    'from 1 to 1000',
  ),
  row('nothing to diagnose', {}, 'diagnose', 'give manifests with -f, or a case file with --case'),
  row(
    'manifests and a case',
    { ...GOOD, 'c.json': caseWith(() => {}) },
    'diagnose -f @/good --case @/c.json',
    'give either --case or -f, not both',
  ),
  row(
    'an overlay that is not there',
    GOOD,
    'diagnose -f @/good --overlay cheaper',
    '--overlay cheaper: there is none of this name; there are: dearer',
  ),
  row(
    'a NodePool that is not there',
    GOOD,
    'diagnose -f @/good --nodepool web',
    '--nodepool web: there is none of this name; there are: general',
  ),
  row(
    'another thing to diagnose',
    GOOD,
    'diagnose -f @/good --type node',
    '--type node: expected one of instance-type',
  ),
];
