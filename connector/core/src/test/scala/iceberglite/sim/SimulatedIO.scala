package iceberglite.sim

import java.io.{ByteArrayInputStream, InputStream}

import iceberglite.spec.IcebergError.{CommitStateUnknown, StorageFailed, UnreadableFile}
import iceberglite.storage.{FileIO, FileInfo}

/** A writer's access to the storage. The simulation injects a [[CallFault]] into some of the calls. */
final class SimulatedIO(
    store: SimulatedStore,
    caller: Simulation#Caller,
    operation: () => Int,
    override val mayCache: Boolean,
    remote: Boolean = false
) extends FileIO {
  override def isRemote(path: String): Boolean = remote

  private val files = new StoreIO(store, operation)

  private def nameOf(path: String): String = path.substring(path.lastIndexOf('/') + 1)

  private def reading[A](what: String, path: String)(run: => A): A = caller(
    Call.reading(s"$what ${nameOf(path)}", () => StorageFailed.at(what, path, "injected by the simulation"))(() => run)
  )

  override def open(path: String): InputStream = new ByteArrayInputStream(read(path))

  override def read(path: String): Array[Byte] = caller(
    Call.reading(s"read ${nameOf(path)}", () => UnreadableFile(path, "file", "injected by the simulation"))(() =>
      files.read(path)
    )
  )

  override def exists(path: String): Boolean = reading("exists", path)(files.exists(path))
  override def info(path: String): Option[FileInfo] = reading("info", path)(files.info(path))
  override def list(directory: String): Vector[FileInfo] = reading("list", directory)(files.list(directory))

  override def write(path: String, contents: Array[Byte]): Unit = {
    val file = StoredFile(path, contents, operation())
    def failed = StorageFailed.at("write", path, "injected by the simulation")
    caller(Call(
      s"write ${nameOf(path)}",
      CallFault.all,
      () => files.write(path, contents),
      () => failed,
      () => failed,
      lateWrite(file)
    ))
  }

  /** Returns the delayed execution of a write request. It writes the file only if no file with this path exists. */
  private def lateWrite(file: StoredFile): () => Unit = () => {
    if (store.putIfAbsent(file)) store.excuse(file.path, "its write arrived late")
  }

  override def createExclusively(path: String, contents: Array[Byte]): Boolean = {
    val file = StoredFile(path, contents, operation())
    caller(Call(
      s"create ${nameOf(path)}",
      CallFault.all,
      () => files.createExclusively(path, contents),
      () => StorageFailed.at("create", path, "injected by the simulation"),
      () => CommitStateUnknown("the table", Some(path), "injected by the simulation", None),
      lateWrite(file)
    ))
  }

  override def replace(path: String, contents: Array[Byte]): Unit = {
    def failed = StorageFailed.at("replace", path, "injected by the simulation")
    def put(): Unit = files.replace(path, contents)
    caller(Call(s"replace ${nameOf(path)}", CallFault.all, () => put(), () => failed, () => failed, () => put()))
  }

  override def delete(path: String): Unit = {
    def failed = {
      store.excuse(path, "its deletion failed")
      StorageFailed.at("delete", path, "injected by the simulation")
    }
    // The simulation excludes late deletions of version-hint.text and of metadata files of the file-system catalog,
    // such as v2.metadata.json: another commit may have created a file with the same name in the meantime, which a real
    // late request would delete.
    def deleteUnlessMetadata(): Unit = if (!nameOf(path).startsWith("v")) files.delete(path)
    caller(Call(
      s"delete ${nameOf(path)}",
      CallFault.all,
      () => files.delete(path),
      () => failed,
      () => failed,
      () => deleteUnlessMetadata()
    ))
  }

  override def makeDirectory(path: String): Unit = ()
  override def deleteDirectory(path: String): Unit = files.deleteDirectory(path)
  override def deleteEmptyDirectory(path: String): Unit = files.deleteEmptyDirectory(path)
  override def renameDirectory(from: String, to: String): Unit = files.renameDirectory(from, to)
}
