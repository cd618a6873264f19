package iceberglite.scan

import java.util.{LinkedHashMap, Map => JavaMap}
import java.util.concurrent.{ConcurrentHashMap, ExecutionException, FutureTask, ScheduledThreadPoolExecutor, TimeUnit}

/**
 * How much of what was read of delete files stays in memory.
 *
 * @param maxEntryBytes of one file; a greater one is read by each task, and its equality deletes go to the disk
 * @param maxTotalBytes of all files; 0 keeps nothing
 * @param idleMs what nobody has asked for in that time goes
 */
final case class DeleteCacheLimits(maxEntryBytes: Long, maxTotalBytes: Long, idleMs: Long)

object DeleteCacheLimits {
  val Default: DeleteCacheLimits = DeleteCacheLimits(64L << 20, 128L << 20, 10L * 60 * 1000)
}

/**
 * What was read of delete files, which never change, for all tasks of the JVM: two that want the same file at the same
 * time read it once. The least recently used goes first. The limits are those of whoever asks.
 *
 * @param nowMs a clock that does not go back
 */
final class DeleteCache(nowMs: () => Long = DeleteCache.Uptime) {
  private case class Slot(value: AnyRef, bytes: Long, idleMs: Long, usedMs: Long)
  private val slots = new LinkedHashMap[AnyRef, Slot](16, 0.75f, true)
  private val loading = new ConcurrentHashMap[AnyRef, FutureTask[AnyRef]]
  private var isSweeping = false
  private var total = 0L

  /** The heap that is in use, by the weights. */
  def bytes: Long = synchronized(total)

  /** @param key tells what is loaded, and from where */
  def valueOf[V <: AnyRef](key: AnyRef, limits: DeleteCacheLimits, weigh: V => Long)(load: => V): V =
    // Safe: a key stands for values of one type.
    used(key).getOrElse(loaded(key, limits, (v: AnyRef) => weigh(v.asInstanceOf[V]))(load)).asInstanceOf[V]

  private def loaded(key: AnyRef, limits: DeleteCacheLimits, weigh: AnyRef => Long)(load: => AnyRef): AnyRef = {
    // Since the look that found nothing another may have begun and ended.
    val own = new FutureTask[AnyRef](() => used(key).getOrElse(kept(key, limits, weigh, load)))
    Option(loading.putIfAbsent(key, own)) match {
      case None =>
        try outcome(ran(own))
        finally {
          loading.remove(key, own)
          ()
        }
      case Some(other) =>
        // What went wrong for another may not for this one: that task may have been ended.
        try other.get()
        catch { case _: ExecutionException => outcome(ran(own)) }
    }
  }

  private def kept(key: AnyRef, limits: DeleteCacheLimits, weigh: AnyRef => Long, value: AnyRef): AnyRef = {
    keep(key, value, weigh(value), limits)
    value
  }

  private def ran(task: FutureTask[AnyRef]): FutureTask[AnyRef] = {
    task.run()
    task
  }

  private def outcome(task: FutureTask[AnyRef]): AnyRef =
    try task.get()
    catch { case e: ExecutionException => throw e.getCause }

  private def used(key: AnyRef): Option[AnyRef] = synchronized {
    dropIdle()
    val found = Option(slots.get(key))
    found.foreach(slot => slots.put(key, slot.copy(usedMs = nowMs())))
    found.map(_.value)
  }

  private def keep(key: AnyRef, value: AnyRef, bytes: Long, limits: DeleteCacheLimits): Unit = synchronized {
    dropIdle()
    if (bytes <= limits.maxEntryBytes && bytes <= limits.maxTotalBytes) {
      Option(slots.put(key, Slot(value, bytes, limits.idleMs, nowMs()))).foreach(former => total -= former.bytes)
      total += bytes
      if (!isSweeping && limits.idleMs < Long.MaxValue) sweepIn(limits.idleMs)
    }
    drop(_ => total > limits.maxTotalBytes)
  }

  /** Lets go of what nobody has asked for in its time. */
  private[scan] def dropIdle(): Unit = synchronized {
    val now = nowMs()
    drop(slot => now - slot.usedMs >= slot.idleMs)
  }

  private def drop(condition: Slot => Boolean): Unit = {
    val eldest: java.util.Iterator[JavaMap.Entry[AnyRef, Slot]] = slots.entrySet.iterator
    while (eldest.hasNext) {
      val slot = eldest.next().getValue
      if (condition(slot)) {
        total -= slot.bytes
        eldest.remove()
      }
    }
  }

  /** Without anybody who asks, too. */
  private def sweepIn(delayMs: Long): Unit = {
    isSweeping = true
    val sweep: Runnable = () =>
      synchronized {
        dropIdle()
        if (slots.isEmpty) isSweeping = false else sweepIn(delayMs)
      }
    DeleteCache.sweeper.schedule(sweep, math.max(1L, delayMs), TimeUnit.MILLISECONDS)
    ()
  }
}

object DeleteCache {
  private val Uptime: () => Long = () => TimeUnit.NANOSECONDS.toMillis(System.nanoTime)

  /** The cache of the JVM. */
  lazy val shared: DeleteCache = new DeleteCache()

  private lazy val sweeper: ScheduledThreadPoolExecutor = {
    val made = new ScheduledThreadPoolExecutor(
      1,
      (work: Runnable) => {
        val thread = new Thread(work, "iceberg-lite-deletes")
        thread.setDaemon(true)
        thread
      }
    )
    made.setKeepAliveTime(30L, TimeUnit.SECONDS)
    made.allowCoreThreadTimeOut(true)
    made
  }
}

/**
 * Whose delete files are read, and how much of them is kept.
 *
 * @param cache where what was read is shared
 * @param owner tells storages with other files or other credentials apart
 * @param spillDirectory where keys go that are too many for memory
 */
final case class DeleteSharing(cache: DeleteCache, owner: AnyRef, limits: DeleteCacheLimits, spillDirectory: String)

object DeleteSharing {

  /** For one reader alone. */
  def own: DeleteSharing =
    DeleteSharing(
      new DeleteCache(),
      "",
      DeleteCacheLimits.Default.copy(idleMs = Long.MaxValue),
      System.getProperty("java.io.tmpdir")
    )
}
