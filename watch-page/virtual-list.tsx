// A long list of rows of one height, of which only those in view are drawn. Not here: what a row is.
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Rows drawn above and below those in view. */
const MARGIN = 10;

export interface VirtualListProps<Item> {
  readonly items: readonly Item[];
  readonly rowHeight: number;
  readonly label: string;
  /** Kept in view when it changes. */
  readonly selected?: number | undefined;
  row(item: Item, index: number): ComponentChildren;
}

export function VirtualList<Item>({ items, rowHeight, label, selected = -1, row }: VirtualListProps<Item>) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 800 });

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const measure = (): void => setView({ top: element.scrollTop, height: element.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  useEffect(() => {
    const element = box.current;
    if (element === null || selected < 0) return;
    const top = selected * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight > element.scrollTop + element.clientHeight) element.scrollTop = top + rowHeight - element.clientHeight;
  }, [selected, rowHeight]);

  const first = Math.max(0, Math.floor(view.top / rowHeight) - MARGIN);
  const last = Math.min(items.length, Math.ceil((view.top + view.height) / rowHeight) + MARGIN);
  return (
    // A region that scrolls must be reachable by keyboard.
    <div
      ref={box}
      class="virtual"
      tabIndex={0}
      role="group"
      aria-label={label}
      onScroll={(event) => setView({ top: event.currentTarget.scrollTop, height: event.currentTarget.clientHeight })}
    >
      <div class="virtual-inner" style={{ height: `${items.length * rowHeight}px` }}>
        {items.slice(first, last).map((item, offset) => (
          <div key={first + offset} class="virtual-row" style={{ top: `${(first + offset) * rowHeight}px`, height: `${rowHeight}px` }}>
            {row(item, first + offset)}
          </div>
        ))}
      </div>
    </div>
  );
}
