package iceberglite.table

import iceberglite.spec.IcebergError.{CommitConflict, CommitStateUnknown, NotFound}
import iceberglite.spec.ObjectKind
import iceberglite.spec.json.TableMetadataJson

/**
 * An in-memory committer. A script determines which of the next commits take effect, and which errors they throw.
 *
 * @param series part of the metadata file names; committers of different tables must have different values
 */
final class ScriptedCommitter(store: MemoryFileIO, series: Long = 0) extends Committer {
  private var versions = Vector.empty[TableVersion]

  /** The errors of the next commits, in order. Commits after the last error succeed. */
  var script: Vector[ScriptedCommitter.Answer] = Vector.empty

  /** Callbacks to run before the next loads, one for each load. */
  var loads: Vector[() => Unit] = Vector.empty
  var commits = 0

  def current: TableVersion = versions.last

  override def load(id: TableIdentifier): TableVersion = {
    val hook = loads.headOption
    loads = loads.drop(1)
    hook.foreach(_.apply())
    versions.lastOption.getOrElse(throw NotFound(ObjectKind.Table, id.toString, "It was never created"))
  }

  override def commit(id: TableIdentifier, base: Option[TableVersion], change: Change): TableVersion = {
    commits += 1
    val answer = script.headOption
    script = script.drop(1)
    answer match {
      case Some(failure) if !failure.happens => throw failure.error
      case response =>
        val next = swap(id, base, change)
        response.foreach(r => throw r.error)
        next
    }
  }

  private def swap(id: TableIdentifier, base: Option[TableVersion], change: Change): TableVersion = {
    if (base.map(_.metadataLocation) != versions.lastOption.map(_.metadataLocation)) {
      throw CommitConflict(id.toString, "another commit came first")
    }
    val next = NextVersion.of(id.toString, base, change, System.currentTimeMillis)
    versions :+= TableVersion(next.metadata, ScriptedCommitter.location(versions.size, series))
    store.replace(versions.last.metadataLocation, TableMetadataJson.write(versions.last.metadata))
    versions.last
  }
}

object ScriptedCommitter {

  /**
   * An error that the commit throws.
   *
   * @param happens whether the commit takes effect before the error is thrown
   */
  final case class Answer(happens: Boolean, error: Throwable)

  def location(version: Int, series: Long = 0): String =
    f"mem://t/metadata/$version%05d-${new java.util.UUID(series, version)}.metadata.json"

  def conflict: Answer = Answer(happens = false, CommitConflict("t", "by the test"))

  /** The error of a commit that takes effect, but is reported as a conflict. */
  def hiddenSuccess: Answer = Answer(happens = true, CommitConflict("t", "by the test"))

  def unknown(happens: Boolean, version: Int): Answer =
    Answer(happens, CommitStateUnknown("t", Some(location(version)), "by the test", None))
}
