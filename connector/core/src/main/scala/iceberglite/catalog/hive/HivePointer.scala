package iceberglite.catalog.hive

import org.apache.hadoop.hive.metastore.api._
import org.apache.thrift.TException
import org.slf4j.LoggerFactory

import iceberglite.catalog.{Pointer, PointerMove}
import iceberglite.spec.{IcebergError, ObjectKind}
import iceberglite.spec.IcebergError.{AlreadyExists, NotFound, ValidationFailed}
import iceberglite.spec.metadata.Encryption
import iceberglite.table.{Environment, TableIdentifier}

/** The access to the Metastore, which all pointers of one catalog share. */
final private[catalog] case class HiveAccess(
    objects: HiveObjects,
    locks: HiveLocks,
    swapSupport: SwapSupport,
    settings: HiveSettings,
    environment: Environment
) {

  /**
   * Whether the lock must be held while an object is changed. The table or the configuration can disable the lock. The
   * lock cannot be disabled for views, because [[SwapSupport]] can test the server safely only with a table.
   *
   * @param properties the properties of the object, or the parameters of the Metastore that contain them
   */
  def requiresLock(kind: HiveKind[_], properties: Map[String, String]): Boolean =
    kind != HiveKind.IcebergTable ||
      properties.get(HiveParameters.LockKey).fold(settings.lock)(_.equalsIgnoreCase("true"))
}

/**
 * The pointer in a Hive Metastore: the parameter of a table that contains the location of the newest metadata file. The
 * Metastore overwrites the parameter without a check. Therefore a writer acquires the Metastore's lock, checks the
 * value of the parameter, and then writes the new value. If the lock is disabled, the Metastore must support
 * compare-and-swap.
 *
 * @param name the name of the table or view, for messages
 */
final private[catalog] class HivePointer[V](access: HiveAccess, kind: HiveKind[V], id: TableIdentifier, name: String)
    extends Pointer[V] {
  import HivePointer._
  import access._

  /** The id of the master key that the last [[read]] found in the Metastore; absent if there was none. */
  private var keyId = Option.empty[String]

  override def read(): Option[String] = {
    val found = objects.find(id)
    keyId = found.flatMap(HiveKind.parameters(_).get(Encryption.KeyIdProperty))
    found.flatMap(kind.location)
  }

  /**
   * Checks that the id of the master key in the metadata file is the id in the Metastore, because only the Metastore is
   * trusted. Without this check, a user who can replace metadata files could end the encryption.
   */
  override def verify(state: V): Unit = {
    val inFile = kind.properties(state).get(Encryption.KeyIdProperty)
    if (inFile != keyId) throw ValidationFailed(
      s"Cannot load $name: ${Encryption.KeyIdProperty} is ${keyId.getOrElse("not set")} in the Metastore, but " +
        s"${inFile.getOrElse("not set")} in the metadata file ${kind.locationOf(state)}. One of them was changed; " +
        "restore it"
    )
  }

  override def create(next: V): PointerMove = withLock(kind.properties(next)) { _ =>
    objects.find(id) match {
      case Some(table) => resultIfTaken(table)
      case None =>
        val table = kind.newTable(id, next, (environment.nowMs() / 1000).toInt)
        kind.update(table, None, next, settings)
        resultOf(objects.create(table)) {
          case _: AlreadyExistsException => objects.find(id).fold[PointerMove](PointerMove.Conflict)(resultIfTaken)
          case _: NoSuchObjectException =>
            throw NotFound(ObjectKind.Namespace, id.namespace.mkString("."), "Create the namespace first")
        }
    }
  }

  override def swap(base: V, next: V): PointerMove = withLock(kind.properties(base)) { lock =>
    objects.find(id).filter(kind.location(_).contains(kind.locationOf(base))) match {
      case None => PointerMove.Conflict
      case Some(table) =>
        val changed = table.deepCopy()
        kind.update(changed, Some(base), next, settings)
        lock match {
          case Some(acquired) => alterWithLock(acquired)(alter(table, changed, None))
          case None => compareAndAlter(table, changed, kind.locationOf(base))
        }
    }
  }

  /** Runs a move of the pointer, with the lock if it is required. */
  private def withLock(properties: Map[String, String])(move: Option[AcquiredLock] => PointerMove): PointerMove =
    if (!requiresLock(kind, properties)) move(None)
    else locks.withLock(id.namespace.head, id.name, name)(lock => move(Some(lock))).fold(PointerMove.Busy, identity)

  private def alterWithLock(lock: AcquiredLock)(alter: => PointerMove): PointerMove = lock.lossReason() match {
    case Some(reason) => PointerMove.Busy(s"the lock was lost before the commit: $reason")
    case None => alter match {
        // If the lock was lost, another writer may have acquired the lock and overwritten the new value.
        case PointerMove.Succeeded => lock.lossReason().fold[PointerMove](PointerMove.Succeeded) { reason =>
            PointerMove.Unknown(new IllegalStateException(s"the lock was lost during the commit: $reason"))
          }
        case other => other
      }
  }

  private def compareAndAlter(table: Table, changed: Table, expected: String): PointerMove =
    try {
      swapSupport.require(id, table)
      alter(table, changed, Some(HiveParameters.LocationKey -> expected))
    } catch { case failure: TException => throw objects.storageFailed(s"ask how to commit $name", failure) }

  /**
   * Alters a table. If the server rejects the new columns because their types are incompatible with those of the old
   * columns, the old columns are kept. This is possible because the Metastore's columns are not used for reads.
   */
  private def alter(table: Table, changed: Table, expected: Option[(String, String)]): PointerMove =
    resultOf(objects.alter(id, changed, expected)) {
      case error if SwapSupport.isModified(error) => PointerMove.Conflict
      case e: InvalidOperationException if isMissing(e) => PointerMove.Conflict
      case e: InvalidOperationException if isIncompatible(e) && changed.getSd.getCols != table.getSd.getCols =>
        log.info(
          s"The Hive Metastore rejected the new columns of $name, so it keeps the old columns: ${HiveFailure.text(e)}"
        )
        changed.getSd.setCols(table.getSd.getCols)
        alter(table, changed, expected)
    }

  /** Runs a call, and distinguishes failures without effect from failures with an unknown outcome. */
  private def resultOf(call: => Unit)(expectedErrors: PartialFunction[TException, PointerMove]): PointerMove =
    try {
      call
      PointerMove.Succeeded
    } catch {
      case error: TException if expectedErrors.isDefinedAt(error) => expectedErrors(error)
      case error @ (_: InvalidObjectException | _: InvalidOperationException) =>
        throw ValidationFailed(s"The Hive Metastore rejected the ${kind.noun} $name: ${HiveFailure.text(error)}")
      case failure: TException => PointerMove.Unknown(failure)
    }

  private def resultIfTaken(table: Table): PointerMove =
    if (kind.location(table).isDefined) PointerMove.Conflict else throw alreadyExists(table, name)
}

private[catalog] object HivePointer {
  private val log = LoggerFactory.getLogger("iceberglite.catalog.hive.HivePointer")

  private def isMissing(error: InvalidOperationException): Boolean = {
    val text = HiveFailure.text(error)
    text.contains("not found") || text.contains("doesn't exist")
  }

  private def isIncompatible(error: InvalidOperationException): Boolean =
    HiveFailure.text(error).contains("types incompatible")

  /** Returns the error for a name that an existing table of the Metastore has. */
  private[hive] def alreadyExists(table: Table, name: String): IcebergError = {
    val existingKind = HiveKind.all.find(_.matches(table)).fold[ObjectKind](ObjectKind.ForeignTable)(_.objectKind)
    AlreadyExists(existingKind, name, "Drop the existing object first, or choose another name")
  }
}
