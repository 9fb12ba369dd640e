import {
  registerDetailsViewSection,
  registerRoute,
  registerSidebarEntry,
} from '@kinvolk/headlamp-plugin/lib';
import {
  Link,
  NameValueTable,
  SectionBox,
  SimpleTable,
  StatusLabel,
} from '@kinvolk/headlamp-plugin/lib/CommonComponents';
import { makeCustomResourceClass } from '@kinvolk/headlamp-plugin/lib/Crd';
import type { KubeObject, KubeObjectClass } from '@kinvolk/headlamp-plugin/lib/lib/k8s/KubeObject';
import { type ReactNode, useMemo } from 'react';
import { useParams } from 'react-router-dom';
import type { Column, Headlamp, ListedKind, Parts } from './headlamp.ts';
import type { Target } from './model/target.ts';
import { CLAIM_PAGE, register } from './register.ts';

/** Connects the panels to Headlamp. Only this file imports it. */

function classOf(group: string, kind: ListedKind, isNamespaced: boolean) {
  const singularName = kind.toLowerCase();
  const pluralName = `${singularName}s`;
  const apiInfo = [{ group, version: 'v1' }];
  return makeCustomResourceClass({ apiInfo, kind, singularName, pluralName, isNamespaced });
}

const CLASSES: Readonly<Record<ListedKind, KubeObjectClass>> = {
  ConfigMap: classOf('', 'ConfigMap', true),
  Event: classOf('', 'Event', true),
  Node: classOf('', 'Node', false),
  NodeClaim: classOf('karpenter.sh', 'NodeClaim', false),
  NodePool: classOf('karpenter.sh', 'NodePool', false),
  Pod: classOf('', 'Pod', true),
  PodDisruptionBudget: classOf('policy', 'PodDisruptionBudget', true),
};

function useList(kind: ListedKind, query: Parameters<Headlamp['useList']>[1]) {
  const [found, error] = CLASSES[kind].useList({ ...query });
  return {
    // The views remember what they have decoded by the list.
    objects: useMemo(() => found?.map(({ jsonData }) => jsonData), [found]),
    problem: error === null ? undefined : error.message,
  };
}

function PageLink({ to, children }: { readonly to: Target; readonly children?: ReactNode }) {
  const { kind, name, namespace } = to;
  if (kind === 'Node')
    return (
      <Link routeName="node" params={{ name }}>
        {children}
      </Link>
    );
  if (kind === 'Pod')
    return (
      <Link routeName="pod" params={{ namespace, name }}>
        {children}
      </Link>
    );
  if (kind === 'NodeClaim')
    return (
      <Link routeName={CLAIM_PAGE} params={{ name }}>
        {children}
      </Link>
    );
  const params = { crd: 'nodepools.karpenter.sh', namespace: '-', crName: name };
  return (
    <Link routeName="customresource" params={params}>
      {children}
    </Link>
  );
}

function Table<Row extends object>({
  columns,
  rows,
  empty,
}: {
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly empty: string;
}) {
  // A new list is news to SimpleTable: on a later page it then offers to go back to the first.
  const data = useMemo(() => [...rows], [rows]);
  return (
    <SimpleTable
      columns={columns.map(({ label, cell, sortedBy, share }) => ({
        label,
        getter: cell,
        gridTemplate: share ?? 1,
        ...(sortedBy === undefined ? {} : { sort: (row: Row) => sortedBy(row) }),
      }))}
      data={data}
      emptyMessage={empty}
    />
  );
}

const parts: Parts = {
  Section: ({ title, children }) => <SectionBox title={title}>{children}</SectionBox>,
  Facts: ({ facts }) => <NameValueTable rows={[...facts]} />,
  Status: ({ look, children }) => <StatusLabel status={look}>{children}</StatusLabel>,
  PageLink,
  Table,
};

registerSidebarEntry({
  parent: null,
  name: 'joiner',
  label: 'Joiner',
  url: '/joiner/nodes',
  icon: 'mdi:server',
});

register({
  parts,
  useList,
  useParameter: (name) => useParams<Readonly<Record<string, string>>>()[name] ?? '',
  nowMs: () => Date.now(),
  addSection: (section) =>
    registerDetailsViewSection(({ resource }: { readonly resource: KubeObject | null }) =>
      resource === null
        ? null
        : section({ kind: resource.kind, cluster: resource.cluster, object: resource.jsonData }),
    ),
  addPage: ({ path, name, label, component }) => {
    registerRoute({
      path,
      name,
      exact: true,
      sidebar: label === undefined ? 'joiner-nodes' : name,
      component,
    });
    if (label !== undefined) registerSidebarEntry({ parent: 'joiner', name, label, url: path });
  },
});
