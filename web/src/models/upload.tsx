// Uploading an ONNX file: by button or by dropping it; a refusal is shown whole, unbound dimensions are asked for.
import { useQueryClient } from '@tanstack/react-query';
import { useState, type DragEvent, type FormEvent } from 'react';
import { ProblemError, problemOf } from '../api/client';
import { modelNameOf, uploadModel } from '../api/upload';
import { percent, quantity } from '../format/quantity';
import type { Problem } from '../api/types';
import { useSpeech, wordFor } from '../i18n/i18n';
import { ErrorBox } from '../ui/basics';

type Work =
  | { state: 'idle' }
  | { state: 'sending'; file: File; share: number }
  | { state: 'refused'; file: File; error: unknown; dims: string[] }
  | { state: 'done'; name: string };

const roles = ['network', 'core', 'text_encoder', 'encoder', 'decoder'];

export function Upload({ onDone }: { onDone: (name: string) => void }) {
  const { t } = useSpeech();
  const queries = useQueryClient();
  const [work, setWork] = useState<Work>({ state: 'idle' });
  const [over, setOver] = useState(false);
  const [role, setRole] = useState('network');
  const [bound, setBound] = useState<Record<string, string>>({});

  const send = async (file: File, dims: Record<string, string>) => {
    setWork({ state: 'sending', file, share: 0 });
    try {
      const model = await uploadModel(modelNameOf(file.name), file, dims, role, (share) => setWork({ state: 'sending', file, share }));
      await queries.invalidateQueries({ queryKey: ['models'] });
      setWork({ state: 'done', name: model.name });
      onDone(model.name);
    } catch (error) {
      const asked = error instanceof ProblemError ? problemOf(error).unbound ?? [] : [];
      setWork({ state: 'refused', file, error, dims: asked.length > 0 ? [...new Set([...Object.keys(dims), ...asked])] : [] });
    }
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const file = event.dataTransfer.files[0];
    if (file) void send(file, {});
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
              if (file) void send(file, {});
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
          {work.dims.length > 0 && (
            <Bindings dims={work.dims} bound={bound} setBound={setBound} onSend={() => void send(work.file, Object.fromEntries(work.dims.map((dim) => [dim, bound[dim] ?? ''])))} />
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
  dims: string[];
  bound: Record<string, string>;
  setBound: (bound: Record<string, string>) => void;
  onSend: () => void;
}

function Bindings({ dims, bound, setBound, onSend }: BindingsProps) {
  const { t } = useSpeech();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSend();
  };
  return (
    <form className="bindings" onSubmit={submit}>
      <p>{t('upload.bind')}</p>
      {dims.map((dim) => (
        <label key={dim} className="inline">
          <code>{dim}</code>
          <input inputMode="numeric" required pattern="[0-9]+" value={bound[dim] ?? ''} onChange={(event) => setBound({ ...bound, [dim]: event.target.value })} />
        </label>
      ))}
      <button type="submit" className="primary">{t('upload.send_bound')}</button>
    </form>
  );
}
