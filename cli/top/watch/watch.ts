import type { Catalog } from '../../../shared/catalog/facts.ts';
import { KubeError } from '../../../shared/kube/errors.ts';
import type { LiveCluster } from '../../live.ts';
import { writeErr, writeOut } from '../../terminal.ts';
import { counted } from '../../words.ts';
import { renderTop } from '../render.ts';
import { type NodeRow, type Sort, sorted } from '../rows.ts';
import type { Feed } from './picture.ts';
import { readReasons } from './reasons.ts';
import type { Price } from './screen.ts';
import { type LivingRow, lifeText, type TopSnapshot, topSnapshotOf } from './snapshot.ts';
import type { ScreenOptions } from './view.ts';

/** What is shown again and again. */
export interface Watched {
  readonly live: LiveCluster;
  readonly catalog: Catalog | undefined;
  /** Of the cluster and its prices. */
  readonly title: string;
  /** Between two reads. */
  readonly intervalMs: number;
  /** Which rows are shown, e.g. those of some NodePools. */
  readonly selected: (moment: TopSnapshot) => TopSnapshot;
  /** How rows are sorted, on a screen until a key says otherwise; undefined: by NodePool and name. */
  readonly sort: Sort | undefined;
}

/** Kept for the trend. */
const HISTORY_MAX = 600;

/**
 * Reads the cluster every so often. An answer of the API server that is an error is shown, and the
 * next read tried; any other error is thrown.
 */
class ClusterFeed {
  readonly #watched: Watched;
  #feed: Feed = { moment: undefined, history: [], failure: '' };

  constructor(watched: Watched) {
    this.#watched = watched;
  }

  get current(): Feed {
    return this.#feed;
  }

  async read(): Promise<void> {
    const { history } = this.#feed;
    try {
      const moment = await this.#moment();
      const price: Price = { atMs: moment.atMs, perHour: moment.all.pricePerHour };
      this.#feed = { moment, history: [...history, price].slice(-HISTORY_MAX), failure: '' };
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      this.#feed = { ...this.#feed, failure: error.message };
    }
  }

  async #moment(): Promise<TopSnapshot> {
    const { live, catalog, selected } = this.#watched;
    const [state, reasons] = await Promise.all([live.reader.read(), readReasons(live.client)]);
    return selected(topSnapshotOf(state, catalog, reasons, live.client.timing.nowMs()));
  }
}

/** On a terminal: the screen, until the person quits. */
async function onTerminal(feed: ClusterFeed, { title, intervalMs, sort }: Watched): Promise<void> {
  // A terminal is there: ink would draw nothing before its end where these are set.
  for (const name of ['CI', 'CONTINUOUS_INTEGRATION']) delete process.env[name];
  const { showScreen } = await import('./view.ts');
  const follow: ScreenOptions['follow'] = (changed, failed) => {
    let isOver = false;
    let timer: NodeJS.Timeout | undefined;
    const read = async (): Promise<void> => {
      await feed.read();
      if (isOver) return;
      changed();
      timer = setTimeout(start, intervalMs);
    };
    const start = (): void => void read().catch(failed);
    start();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  };
  await showScreen({ title, current: () => feed.current, follow, sort });
}

/** A row whose state is said in the words of the screen. */
function asOnScreen(row: LivingRow): NodeRow {
  return { ...row, state: [lifeText(row.life)] };
}

/** Elsewhere: the table again and again, each with its time, until the process is ended. */
async function onPipe(
  feed: ClusterFeed,
  { live, title, intervalMs, sort }: Watched,
): Promise<void> {
  for (;;) {
    await feed.read();
    const { moment, failure } = feed.current;
    if (failure !== '') writeErr(`${failure}\n`);
    else if (moment !== undefined) {
      const { rows, byPool, all, pending, atMs } = moment;
      const time = new Date(atMs).toISOString();
      const shown = (sort ? sorted(rows, sort) : rows).map(asOnScreen);
      const waiting = counted(pending.length, 'pending pod');
      writeOut(`${time} ${title}\n${renderTop(shown, { byPool, all })}\n${waiting}\n\n`);
    }
    await live.client.timing.sleep(intervalMs);
  }
}

/** `joiner top --watch`. */
export async function watchTop(watched: Watched): Promise<void> {
  const feed = new ClusterFeed(watched);
  const isTerminal = process.stdout.isTTY === true && process.stdin.isTTY === true;
  await (isTerminal ? onTerminal(feed, watched) : onPipe(feed, watched));
}
