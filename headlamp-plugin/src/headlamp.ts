import type { ComponentType, ReactNode } from 'react';
import type { Target } from './model/target.ts';

/** The kinds that the panels list. */
export type ListedKind =
  | 'ConfigMap'
  | 'Event'
  | 'Node'
  | 'NodeClaim'
  | 'NodePool'
  | 'Pod'
  | 'PodDisruptionBudget';

/** Which objects of a kind. */
export interface Query {
  /** Undefined: the clusters that are selected. */
  readonly cluster?: string;
  readonly namespace?: string;
  readonly fieldSelector?: string;
}

/** A list that is kept up to date. */
export interface Listed {
  /** Objects as the API server sends them; undefined: they are being read, or cannot be. */
  readonly objects: readonly unknown[] | undefined;
  /** Why they cannot be read, such as `Forbidden`; undefined: they can. */
  readonly problem: string | undefined;
}

/** An object on whose page a section is shown. */
export interface Shown {
  readonly kind: string;
  readonly cluster: string;
  /** As the API server sends it. */
  readonly object: unknown;
}

/** A column of a table. */
export interface Column<Row> {
  readonly label: string;
  readonly cell: (row: Row) => ReactNode;
  /** Undefined: people cannot sort by it. */
  readonly sortedBy?: (row: Row) => string | number;
  /** Its share of the width. Default: 1. */
  readonly share?: number;
}

/** The components of Headlamp that the views are made of. */
export interface Parts {
  readonly Section: ComponentType<{ readonly title: string; readonly children?: ReactNode }>;
  readonly Facts: ComponentType<{
    readonly facts: readonly { readonly name: string; readonly value: ReactNode }[];
  }>;
  readonly Status: ComponentType<{
    readonly look: 'success' | 'warning' | 'error';
    readonly children?: ReactNode;
  }>;
  readonly PageLink: ComponentType<{ readonly to: Target; readonly children?: ReactNode }>;
  /** Sortable by the columns that say so. */
  Table<Row extends object>(props: {
    readonly columns: readonly Column<Row>[];
    readonly rows: readonly Row[];
    readonly empty: string;
  }): ReactNode;
}

/** A page in Headlamp's sidebar, below "Joiner". */
export interface Page {
  /** Such as `/joiner/nodes`; parameters begin with a colon. */
  readonly path: string;
  readonly name: string;
  /** In the sidebar; undefined: it is reached by links. */
  readonly label?: string;
  readonly component: () => ReactNode;
}

/** What the panels need of Headlamp: `index.tsx` connects it, and tests have one of their own. */
export interface Headlamp {
  readonly parts: Parts;
  /** A hook. */
  useList(kind: ListedKind, query: Query): Listed;
  /** A hook: the parameter of the page's path; empty where it has none. */
  useParameter(name: string): string;
  /** Milliseconds since the epoch. */
  nowMs(): number;
  /** A section on the page of every object for which it returns something. */
  addSection(section: (shown: Shown) => ReactNode): void;
  addPage(page: Page): void;
}
