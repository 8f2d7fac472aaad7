// Events from the server into the model, and the page told of it no more often than it can draw. Not here: the model itself (model.ts).
import { apply, emptyModel, type Model, type PageEvent } from './model.ts';

export type Connection = 'connecting' | 'open' | 'lost';

/** Follows the events; `onChange` is called before a frame is drawn, when something has changed. */
export function follow(onChange: (model: Model, connection: Connection) => void): void {
  const model = emptyModel();
  let connection: Connection = 'connecting';
  let isWaiting = false;
  const changed = (): void => {
    if (isWaiting) return;
    isWaiting = true;
    requestAnimationFrame(() => {
      isWaiting = false;
      onChange(model, connection);
    });
  };
  const source = new EventSource('events');
  source.onopen = () => {
    connection = 'open';
    changed();
  };
  source.onerror = () => {
    connection = 'lost';
    changed();
  };
  source.onmessage = ({ data }: MessageEvent<string>) => {
    for (const event of JSON.parse(data) as PageEvent[]) apply(model, event);
    changed();
  };
}
