ALTER TABLE "gateway_files" ADD COLUMN "used" bigint;--> statement-breakpoint
CREATE INDEX "gateway_files_used" ON "gateway_files" USING btree ("used");