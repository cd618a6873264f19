package iceberglite.catalog

import iceberglite.spec.IcebergError.{AlreadyExists, StorageFailed}
import iceberglite.spec.{ObjectKind, Place}

/** Registers existing metadata files in a catalog that stores pointers. The files are never deleted. */
private[catalog] object PointerRegistration {

  /**
   * Creates a pointer to an existing metadata file.
   *
   * @param kind the kind of the object, for messages
   * @param name the name of the object, for messages
   * @param state the content of the file
   * @throws AlreadyExists if an object with the name exists
   */
  def apply[V](kind: ObjectKind, name: String, pointer: Pointer[V], state: V, metadataFile: String): Unit = {
    def failure(reason: String, cause: Option[Throwable]) = {
      val advice = s"$reason. Check whether the ${kind.noun} exists, and try again"
      StorageFailed(s"register $metadataFile as", Place.CatalogObject(name), advice, cause)
    }
    pointer.create(state) match {
      case PointerMove.Succeeded => ()
      case PointerMove.Conflict => throw AlreadyExists(kind, name, "Drop it first or choose another name")
      case PointerMove.Busy(reason) => throw failure(reason, None)
      case PointerMove.Unknown(cause) =>
        if (!pointer.read().contains(metadataFile)) throw failure(String.valueOf(cause.getMessage), Some(cause))
    }
  }
}
