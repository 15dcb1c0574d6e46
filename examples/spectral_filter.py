"""A melody in noise, cleaned in the frequency domain: short-time spectra, noise floor, overlap-add."""

import argparse

import numpy as np

RATE = 8000
FRAME = 512
HOP = FRAME // 4


def melody(seconds, rng):
    time = np.arange(int(seconds * RATE)) / RATE
    notes = 220.0 * 2.0 ** (rng.integers(0, 13, int(np.ceil(seconds * 2))) / 12.0)
    pitch = notes[(time * 2).astype(int)]
    phase = 2.0 * np.pi * np.cumsum(pitch) / RATE
    envelope = np.exp(-3.0 * (time * 2 % 1.0))
    clean = envelope * (np.sin(phase) + 0.4 * np.sin(2 * phase) + 0.2 * np.sin(3 * phase))
    hum = 0.2 * np.sin(2.0 * np.pi * 50.0 * time)
    return clean, clean + hum + 0.3 * rng.standard_normal(time.size)


def spectra(signal, window):
    frames = np.lib.stride_tricks.sliding_window_view(signal, FRAME)[::HOP]
    return np.fft.rfft(frames * window, axis=1)


def clean_up(spectrum):
    """Attenuate what does not rise above each frequency's usual level."""
    power = np.abs(spectrum) ** 2
    floor = np.median(power, axis=0) / np.log(2.0)
    gain = np.sqrt(np.maximum(1.0 - 4.0 * floor / np.maximum(power, 1e-30), 0.01))
    frequency = np.fft.rfftfreq(FRAME, 1.0 / RATE)
    gain[:, (frequency < 100.0) | (frequency > 2500.0)] = 0.0
    return spectrum * gain


def overlap_add(spectrum, window, length):
    frames = np.fft.irfft(spectrum, n=FRAME, axis=1) * window
    signal, weight = np.zeros(length), np.zeros(length)
    for index, frame in enumerate(frames):
        place = slice(index * HOP, index * HOP + FRAME)
        signal[place] += frame
        weight[place] += window * window
    return signal / np.maximum(weight, 1e-3)


def decibels(signal, clean):
    inner = slice(FRAME, -FRAME)
    error = signal[inner] - clean[inner]
    return 10.0 * np.log10((clean[inner] ** 2).sum() / (error**2).sum())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=float, default=180.0, help="seconds of sound")
    seconds = parser.parse_args().size

    clean, noisy = melody(seconds, np.random.default_rng(21))
    window = np.hanning(FRAME + 1)[:-1]
    spectrum = spectra(noisy, window)
    result = overlap_add(clean_up(spectrum), window, noisy.size)

    loudness = np.abs(spectrum).mean(axis=0)
    print(f"{noisy.size} samples, {len(spectrum)} frames")
    print("loudest bands (Hz)", np.sort(np.argsort(loudness)[-5:]) * RATE / FRAME)
    print(f"signal to noise {decibels(noisy, clean):.9f} dB -> {decibels(result, clean):.9f} dB")
    print(f"energy {float((result**2).sum())!r}, peak {float(np.abs(result).max())!r}")


if __name__ == "__main__":
    main()
