import { expect, it } from 'vitest';
import { casesOf } from '../../karpenter/report.ts';

const spec = (text: string, State: string, more: object = {}) => ({
  LeafNodeType: 'It',
  ContainerHierarchyTexts: ['Pods'],
  LeafNodeText: text,
  State,
  RunTime: 2e9,
  ...more,
});

it('reads the cases of a report, and tells cases of one name apart', () => {
  const Failure = { Message: 'no', Location: { FileName: '/a/b_test.go', LineNumber: 7 } };
  const SpecReports = [
    { LeafNodeType: 'BeforeSuite', State: 'passed' },
    spec('run', 'passed'),
    spec('run', 'panicked', { Failure }),
    spec('wait', 'pending'),
    { ...spec('alone', 'skipped'), ContainerHierarchyTexts: null },
  ];
  expect(casesOf([{ SpecReports }])).toEqual([
    { name: 'Pods run', state: 'passed', seconds: 2, message: '' },
    { name: 'Pods run #2', state: 'failed', seconds: 2, message: 'b_test.go:7 no' },
    { name: 'Pods wait', state: 'skipped', seconds: 2, message: '' },
    { name: 'alone', state: 'skipped', seconds: 2, message: '' },
  ]);
});
