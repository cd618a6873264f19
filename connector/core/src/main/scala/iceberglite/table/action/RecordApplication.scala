package iceberglite.table.action

import scala.util.Try

import iceberglite.spec.IcebergError.{AlreadyCommitted, InvalidArgument}
import iceberglite.spec.MetadataUpdate.SetProperties
import iceberglite.spec.TableMetadata
import iceberglite.table.{Change, CommitContext}

/**
 * Notes in the table's properties how far an application has come, in the commit of what it writes. A job that is run
 * again, because nobody heard that it was through, finds the note and writes nothing twice. Snapshots would not do for it:
 * they expire.
 *
 * @param application its name, which other applications do not have
 * @param version grows from one write of the application to the next
 */
final class RecordApplication(application: String, version: Long) extends MetadataAction {
  private val key = RecordApplication.Prefix + application

  /** @throws AlreadyCommitted the table holds this version, or a later one */
  override def describe(base: TableMetadata, context: CommitContext): Change = {
    last(base.properties).filter(_ >= version).foreach { last =>
      throw AlreadyCommitted(context.table, application, version, last)
    }
    Change(Vector(SetProperties(Map(key -> version.toString))), Vector.empty)
  }

  private def last(properties: Map[String, String]): Option[Long] = properties.get(key).map { text =>
    Try(text.toLong).getOrElse(
      throw InvalidArgument(s"table property $key", text, "It must be a version's number; unset it to begin anew")
    )
  }
}

object RecordApplication {

  /** Of the properties' keys; the application's name follows. */
  val Prefix = "application-version."
}
