// Uploading an ONNX file: by button or by dropping it; a refusal is shown whole, and the sizes and values it needs are asked for.
import { useQueryClient } from '@tanstack/react-query';
import { useState, type DragEvent, type FormEvent } from 'react';
import { ProblemError, problemOf } from '../api/client';
import { askedFor, modelNameOf, together, uploadModel, type Open } from '../api/upload';
import { percent, quantity } from '../format/quantity';
import type { Problem } from '../api/types';
import { useSpeech, wordFor, type Key } from '../i18n/i18n';
import { ErrorBox } from '../ui/basics';

type Work =
  | { state: 'idle' }
  | { state: 'sending'; file: File; share: number }
  | { state: 'refused'; file: File; error: unknown; open: Open[] }
  | { state: 'done'; name: string };

const roles = ['network', 'core', 'text_encoder', 'encoder', 'decoder'];

export function Upload({ onDone }: { onDone: (name: string) => void }) {
  const { t } = useSpeech();
  const queries = useQueryClient();
  const [work, setWork] = useState<Work>({ state: 'idle' });
  const [over, setOver] = useState(false);
  const [role, setRole] = useState('network');

  const send = async (file: File, said: Open[]) => {
    setWork({ state: 'sending', file, share: 0 });
    try {
      const model = await uploadModel(modelNameOf(file.name), file, said, role, (share) => setWork({ state: 'sending', file, share }));
      await queries.invalidateQueries({ queryKey: ['models'] });
      setWork({ state: 'done', name: model.name });
      onDone(model.name);
    } catch (error) {
      // A size or a value that was given may be what is wrong: it can be changed, and sent again.
      setWork({ state: 'refused', file, error, open: together(said, error instanceof ProblemError ? askedFor(error.problem) : []) });
    }
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const file = event.dataTransfer.files[0];
    if (file) void send(file, []);
  };
  return (
    <div className="upload-area">
      <label className="upload-role">
        <span className="label">{t('upload.role')}</span>
        <select value={role} onChange={(event) => setRole(event.target.value)}>
          {roles.map((one) => <option key={one} value={one}>{wordFor(t, 'part', one)}</option>)}
        </select>
      </label>
      <div className={`upload ${over ? 'over' : ''}`} onDragOver={(event) => { event.preventDefault(); setOver(true); }} onDragLeave={() => setOver(false)} onDrop={drop}>
        <label className="button">
          {t('upload.choose')}
          <input
            type="file" accept=".onnx" className="visually-hidden"
            onChange={(event) => {
              const file = event.target.files?.[0];
              if (file) void send(file, []);
              event.target.value = '';
            }}
          />
        </label>
        <span className="muted">{t('upload.or_drop')}</span>
      </div>
      {work.state === 'sending' && (
        <div className="upload-state" role="status">
          <progress value={work.share} max={1} aria-label={t('upload.sending', { name: work.file.name, size: quantity(work.file.size, 'B') })} />
          <span>{work.share < 1 ? percent(work.share, 2) : t('upload.reading')}</span>
        </div>
      )}
      {work.state === 'done' && <p className="ok-note" role="status">{t('upload.done', { name: work.name })}</p>}
      {work.state === 'refused' && (
        <>
          <ErrorBox error={work.error} />
          <Obstacles problem={problemOf(work.error)} />
          {work.open.length > 0 && (
            <Bindings open={work.open} onChange={(open) => setWork({ ...work, open })} onSend={() => void send(work.file, work.open)} />
          )}
        </>
      )}
    </div>
  );
}

/** More than the error that was met first: every operator that is not known, every dimension without a size. */
function Obstacles({ problem }: { problem: Problem }) {
  const { t } = useSpeech();
  const problems = problem.problems ?? [];
  if (problems.length < 2) return null;
  return (
    <div className="warn-box">
      <strong>{t('upload.problems')}</strong>
      <ul lang="en">{problems.map((one) => <li key={`${one.code} ${one.where}`}><code>{one.where}</code> {one.detail}</li>)}</ul>
    </div>
  );
}

interface BindingsProps {
  open: Open[];
  onChange: (open: Open[]) => void;
  onSend: () => void;
}

/** A field for each size and each value that the file needs. */
function Bindings({ open, onChange, onSend }: BindingsProps) {
  const { t } = useSpeech();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSend();
  };
  const kinds: [Open['kind'], Key][] = [['dim', 'upload.bind'], ['input', 'upload.give']];
  return (
    <form className="bindings" onSubmit={submit}>
      {kinds.filter(([kind]) => open.some((one) => one.kind === kind)).map(([kind, words]) => (
        <fieldset key={kind}>
          <legend>{t(words)}</legend>
          {open.map((one, k) => one.kind === kind && (
            <label key={one.name} className="inline">
              <code>{one.name}</code>
              <input
                {...(kind === 'dim' ? { inputMode: 'numeric', pattern: '[0-9]+' } : { placeholder: '16000, [1,1,0]', spellCheck: false })}
                required value={one.value} onChange={(event) => onChange(open.map((other, at) => (at === k ? { ...one, value: event.target.value.trim() } : other)))}
              />
            </label>
          ))}
        </fieldset>
      ))}
      <button type="submit" className="primary">{t('upload.send_bound')}</button>
    </form>
  );
}
