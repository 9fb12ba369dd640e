interface Dashboard {
  readonly title: string;
  readonly uid: string;
  /** What is chosen above the panels. */
  readonly variables: readonly object[];
  readonly panels: readonly object[];
}

/** A dashboard as Grafana imports it: of the last three hours, read again each minute. */
export function grafanaFile({ title, uid, variables, panels }: Dashboard): string {
  const dashboard = {
    title,
    uid,
    schemaVersion: 39,
    editable: true,
    refresh: '1m',
    time: { from: 'now-3h', to: 'now' },
    templating: { list: variables },
    panels,
  };
  return `${JSON.stringify(dashboard, undefined, 1)}\n`;
}
