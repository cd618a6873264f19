package iceberglite.table.action

import scala.util.Try

import iceberglite.spec.IcebergError.{AlreadyCommitted, InvalidArgument}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.update.MetadataUpdate.SetProperties
import iceberglite.table.{Change, CommitContext, MetadataAction}

/**
 * Records an application's progress in the table's properties, in the commit of the data. If a job did not receive the
 * response of its commit and is run again, it finds the record and does not write the data twice. Snapshot summaries
 * are not suitable for the record, because snapshots expire.
 *
 * @param application the application's name, unique among applications
 * @param version increases with every write of the application
 */
final class RecordApplicationVersion(application: String, version: Long) extends MetadataAction {
  private val key = RecordApplicationVersion.Prefix + application

  /** @throws AlreadyCommitted the table has recorded this version or a later one */
  override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    lastVersion(base.properties).filter(_ >= version).foreach { lastVersion =>
      throw AlreadyCommitted(context.table, application, version, lastVersion)
    }
    Change(Vector(SetProperties(Map(key -> version.toString))), Vector.empty)
  }

  private def lastVersion(properties: Map[String, String]): Option[Long] = properties.get(key).map { text =>
    Try(text.toLong).getOrElse(
      throw InvalidArgument(s"table property $key", text, "It must be a version's number; unset it to begin anew")
    )
  }
}

object RecordApplicationVersion {

  /** The prefix of the property keys; the application's name follows. */
  val Prefix = "application-version."
}
