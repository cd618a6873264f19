package iceberglite.table.action

import scala.util.Try

import iceberglite.spec.IcebergError.{AlreadyCommitted, InvalidArgument}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.update.MetadataUpdate.SetProperties
import iceberglite.table.{Change, CommitContext, MetadataAction}

/**
 * Records an application's version in the table's properties, in the same commit as the data. If a job did not receive
 * the response to its commit and runs again, the version shows that the data has already been committed. The version is
 * not recorded in a snapshot summary, because snapshots expire.
 *
 * @param application the application's name, unique among applications
 * @param version a number that increases with every write of the application
 */
final class RecordApplicationVersion(application: String, version: Long) extends MetadataAction {
  private val key = RecordApplicationVersion.Prefix + application

  /** @throws AlreadyCommitted if the application has already committed this version or a later version */
  override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    lastVersion(base).filter(_ >= version).foreach { lastVersion =>
      throw AlreadyCommitted(context.table, application, version, lastVersion)
    }
    Change(Vector(SetProperties(Map(key -> version.toString))), Vector.empty)
  }

  /** @throws InvalidArgument if the property is not a whole number */
  private[action] def lastVersion(base: TableMetadata): Option[Long] = base.properties.get(key).map { text =>
    Try(text.toLong).getOrElse(
      throw InvalidArgument(s"table property $key", text, "It must be a whole number. Unset it to start again")
    )
  }
}

object RecordApplicationVersion {

  /** The prefix of the property keys. A key is the prefix followed by the application's name. */
  val Prefix = "application-version."
}
