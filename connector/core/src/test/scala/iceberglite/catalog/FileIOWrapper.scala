package iceberglite.catalog

import iceberglite.storage.{FileIO, ForwardingFileIO}

/** Delegates all operations to another FileIO. Subclasses override single operations. */
class FileIOWrapper(inner: FileIO) extends ForwardingFileIO(inner)
