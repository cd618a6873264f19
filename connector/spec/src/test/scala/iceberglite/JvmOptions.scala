package iceberglite

/** Options of the JVMs that tests start as separate processes. */
object JvmOptions {

  /**
   * Options for programs that run only for seconds: no optimizing compiler (C2), without which the code cache would have
   * only 48 MiB, no verification of classes, and no collection of garbage until the metaspace has its usual size.
   */
  val quickStart: Seq[String] = Seq(
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-XX:ReservedCodeCacheSize=256m",
    "-XX:MetaspaceSize=256m",
    "-XX:+UnlockDiagnosticVMOptions",
    "-XX:-BytecodeVerificationRemote"
  )
}
